package validate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// FileProblem is one fault in a document.
type FileProblem struct {
	// Line and Column are its position in the text, from 1; 0 for a value that is not in the text.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path names the field, such as steps.2.if.
	Path    string `json:"path,omitempty"`
	Problem string `json:"problem"`
}

// String formats the problem as a compiler would.
func (p FileProblem) String() string {
	where := p.Path
	if p.Line > 0 {
		where = fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	if where == "" {
		return p.Problem
	}
	return where + ": " + p.Problem
}

// FileProblems are all faults in a document, in the order of its text. As an error they have the code invalid_input.
type FileProblems []FileProblem

// Error returns all problems, one on a line.
func (ps FileProblems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns an error with the code invalid_input.
func (ps FileProblems) Unwrap() error { return messages.InvalidInput("%s", ps.Error()) }

// Err returns the problems as an error, or nil if there are none. It sorts them by position and removes duplicates.
func (ps FileProblems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	stable.Sort(ps, func(a, b FileProblem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return slices.Compact(ps)
}

// place is the position of a value in a text.
type place struct{ line, column int }

// Places are the positions of a document's values, by path.
type Places map[string]place

// of returns the position of the path. If its value is not in the text, it returns the position of the enclosing
// value.
func (places Places) of(path string) place {
	for {
		if p, ok := places[path]; ok || path == "" {
			return p
		}
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
}

// Problem makes a FileProblem at the position of the path.
func (places Places) Problem(path, format string, args ...any) FileProblem {
	p := places.of(path)
	return FileProblem{Line: p.line, Column: p.column, Path: path, Problem: fmt.Sprintf(format, args...)}
}

// Sort returns the names of the value's members in their order in the text. Without places the order is alphabetical.
func (places Places) Sort(path string, names iter.Seq[string]) []string {
	all := slices.Sorted(names)
	stable.Sort(all, func(a, b string) int {
		x, y := places[Below(path, a)], places[Below(path, b)]
		return cmp.Or(x.line-y.line, x.column-y.column)
	})
	return all
}

// write writes a value that was read from the text as JSON, with the members of objects in their order in the text.
func (places Places) write(to *bytes.Buffer, value any, path string) {
	comma := ""
	switch v := value.(type) {
	case map[string]any:
		to.WriteByte('{')
		for _, name := range places.Sort(path, maps.Keys(v)) {
			quoted, _ := json.Marshal(name) // a text has no error
			to.WriteString(comma + string(quoted) + ":")
			places.write(to, v[name], Below(path, name))
			comma = ","
		}
		to.WriteByte('}')
	case []any:
		to.WriteByte('[')
		for i, element := range v {
			to.WriteString(comma)
			places.write(to, element, Below(path, strconv.Itoa(i)))
			comma = ","
		}
		to.WriteByte(']')
	default:
		scalar, _ := json.Marshal(value) // yamlReader.scalar reads nothing that JSON does not have
		to.Write(scalar)
	}
}

// Limits of a text.
const (
	mostBytes  = 4 << 20
	mostValues = 200_000
	deepest    = 60
)

// Check lists what does not fit in a value that was read from the text.
func (places Places) Check(schema *Schema, value any) (all FileProblems) {
	for _, p := range schema.All(value) {
		all = append(all, places.Problem(p.Path, "%s", p.Says))
	}
	return all
}

// ReadYAML parses a text, validates it against the schema, and decodes it. If the text does not fit, it still decodes what
// is left without the faulty parts, so that the rest can be checked. ok is false if the text has no value at all.
func ReadYAML(text []byte, schema *Schema, into any) (places Places, wrong FileProblems, ok bool) {
	if len(text) > mostBytes {
		return nil, FileProblems{{Problem: fmt.Sprintf("the text may have at most %d bytes", mostBytes)}}, false
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, FileProblems{syntax(text, err)}, false
	}
	if len(doc.Content) == 0 {
		return nil, FileProblems{{Line: 1, Column: 1, Problem: "the text is empty"}}, false
	}
	r := yamlReader{at: Places{}}
	value := r.value(doc.Content[0], "", 0)
	if r.problems != nil {
		return r.at, r.problems, false
	}
	wrong = r.at.Check(schema, value)
	for _, p := range wrong {
		value = without(value, strings.Split(p.Path, "."))
	}
	var data bytes.Buffer
	r.at.write(&data, value, "")
	err := json.Unmarshal(data.Bytes(), into)
	if err != nil {
		wrong = append(wrong, FileProblem{Problem: err.Error()})
	}
	return r.at, wrong, value != nil && err == nil
}

// without removes the value at the path. In a list it leaves an empty element.
func without(value any, path []string) any {
	if len(path) == 0 || path[0] == "" {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		if v[path[0]] = without(v[path[0]], path[1:]); v[path[0]] == nil {
			delete(v, path[0])
		}
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(v) && len(path) > 1 {
			v[i] = without(v[i], path[1:])
		}
	}
	return value
}

// yamlReader converts the nodes of a text to JSON values.
type yamlReader struct {
	at       Places
	problems FileProblems
	values   int
}

func (r *yamlReader) wrong(path string, n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, FileProblem{n.Line, n.Column, path, fmt.Sprintf(format, args...)})
}

// value converts a YAML node to a JSON value, and notes its place. It bounds number and depth, because aliases can
// repeat each other.
func (r *yamlReader) value(n *yaml.Node, path string, depth int) any {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	r.values++
	if _, known := r.at[path]; !known {
		r.at[path] = place{n.Line, n.Column}
	}
	if r.values > mostValues || depth > deepest {
		if r.values <= mostValues+1 {
			r.wrong(path, n, "the text may have at most %d values, nested at most %d deep", mostValues, deepest)
		}
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.object(n, path, depth)
	case yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for i, element := range n.Content {
			all = append(all, r.value(element, Below(path, fmt.Sprint(i)), depth+1))
		}
		return all
	}
	return r.scalar(n, path)
}

// object converts a mapping. A name that is given twice is a problem; the last value stays.
func (r *yamlReader) object(n *yaml.Node, path string, depth int) map[string]any {
	all := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if _, twice := all[name]; twice {
			r.wrong(Below(path, name), n.Content[i], "%s is given twice", name)
		}
		all[name] = r.value(n.Content[i+1], Below(path, name), depth+1)
	}
	return all
}

// scalar converts a scalar. A date stays a text, because JSON has none.
func (r *yamlReader) scalar(n *yaml.Node, path string) (v any) {
	if tag := n.ShortTag(); tag == "!!timestamp" || tag == "!!str" {
		return n.Value
	}
	if err := n.Decode(&v); err != nil {
		r.wrong(path, n, "%v", err)
	} else if number, is := v.(float64); is && (math.IsInf(number, 0) || math.IsNaN(number)) {
		r.wrong(path, n, "%s is not a number of JSON", n.Value)
	}
	return v
}

// Below returns the path of a member.
func Below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// syntax converts an error of the YAML library. Its position is the line after which no beginning of the text can be
// parsed.
func syntax(text []byte, err error) FileProblem {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	lines := bytes.SplitAfter(text, []byte("\n"))
	number := 1
	if words, rest, found := strings.Cut(what, ": "); found && strings.HasPrefix(words, "line ") {
		what = rest
		number, _ = strconv.Atoi(words[len("line "):])
	}
	if len(lines) <= mostLines {
		var doc yaml.Node
		for number = len(lines); number > 1 && yaml.Unmarshal(bytes.Join(lines[:number-1], nil), &doc) != nil; number-- {
		}
	}
	switch {
	case strings.Contains(what, "tab character"), strings.Contains(what, "cannot start any token"):
		what = "indent with spaces, and not with tabs"
	case strings.Contains(what, "did not find expected"), strings.Contains(what, "mapping values are not allowed"):
		what = "the line does not fit those above: is its indentation right, and every bracket and quote closed? (" + what + ")"
	}
	return FileProblem{Line: max(number, 1), Column: 1, Problem: what}
}

// mostLines is the length of the longest text whose beginnings are tried.
const mostLines = 2000
