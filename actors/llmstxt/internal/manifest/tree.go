package manifest

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
	"github.com/seed889630bf/lastword/internal/stable"
)

// object is a JSON object, a mapping of YAML or TOML, an XML element, or a section of lines. Its members keep the
// order of the file. A member that is missing or of another type counts as empty.
type object []member

type member struct {
	key   string
	value any // object, []any, string, bool, nil; a number as the string it is written as
}

// at returns all values at a place, which is a path of keys separated by slashes. It searches lists on the way.
func (o object) at(place string) []any {
	key, below, more := strings.Cut(place, "/")
	var found []any
	for _, m := range o {
		if !sameKey(m.key, key) {
			continue
		}
		if !more {
			found = append(found, m.value)
			continue
		}
		for _, sub := range items[object](m.value) {
			found = append(found, sub.at(below)...)
		}
	}
	return found
}

var keyMarks = strings.NewReplacer("-", "", "_", "", " ", "")

// sameKey compares keys without regard to case, hyphens, underscores and spaces.
func sameKey(a, b string) bool {
	return a == b || a != "" && b != "" && (a[0]^b[0])&^0x20 == 0 &&
		strings.EqualFold(keyMarks.Replace(a), keyMarks.Replace(b))
}

// text returns the first text at the place.
func (o object) text(place string) string {
	for _, value := range o.at(place) {
		if sub, ok := value.(object); ok {
			value = sub.text("")
		}
		if s := strings.Join(items[string](value), " or "); s != "" {
			return s
		}
	}
	return ""
}

// objects returns the mappings at the place.
func (o object) objects(place string) []object {
	var all []object
	for _, value := range o.at(place) {
		all = append(all, items[object](value)...)
	}
	return all
}

func (o object) keys() []string {
	var keys []string
	for _, m := range o {
		keys = append(keys, m.key)
	}
	return keys
}

// items returns the value, or the elements of a list, that have the type.
func items[T any](value any) []T {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var all []T
	for _, v := range list {
		if item, ok := v.(T); ok {
			all = append(all, item)
		}
	}
	return all
}

// checkNesting returns an error for text that is nested so deeply that a recursive parser would exhaust its stack.
func checkNesting(text string) error {
	level, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{', '(':
			level++
			most = max(most, level)
		case ']', '}', ')':
			level--
		}
	}
	if most > 4*depth {
		return fmt.Errorf("brackets are nested %d deep", most)
	}
	return nil
}

// parseJSON parses JSON as people write it: with comments, trailing commas, unquoted keys and single quotes. Of text that
// ends early it returns what came before.
func parseJSON(text string) (object, error) {
	o, ok := scriptValue(literal.Read(".json", func(string) string { return text })).(object)
	if !ok {
		return nil, errors.New("no JSON object")
	}
	return o, nil
}

// scriptValue converts a value of a script to a value of a member.
func scriptValue(v any) any {
	switch v := v.(type) {
	case *literal.Object:
		o := object{}
		for key, value := range v.All() {
			o = append(o, member{key, scriptValue(value)})
		}
		return o
	case []any:
		for i := range v {
			v[i] = scriptValue(v[i])
		}
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case literal.Unknown:
		return nil
	}
	return v
}

// parseYAML parses the first document. It does not follow aliases, which could expand to more than memory holds.
func parseYAML(text string) (object, error) {
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.NewDecoder(strings.NewReader(text)).Decode(&n); err != nil {
		return topLines(text), err
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) == 0 {
		return nil, nil
	}
	o, _ := yamlValue(n.Content[0], 0).(object)
	return o, nil
}

// yamlValue converts a node to a value of a member. Aliases, and what is nested too deeply, become nil.
func yamlValue(n *yaml.Node, level int) any {
	if level > depth {
		return nil
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return nil
		}
		return n.Value
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, yamlValue(c, level+1))
		}
		return list
	case yaml.MappingNode:
		o := object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			o = append(o, member{n.Content[i].Value, yamlValue(n.Content[i+1], level+1)})
		}
		return o
	}
	return nil
}

// topLines returns the plain "key: value" lines of a file that is not valid YAML.
func topLines(text string) object {
	var o object
	for l := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimRight(l, "\n"), ": ")
		if ok && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_-") == "" {
			o = append(o, member{key, strings.Trim(strings.TrimSpace(value), `"'`)})
		}
	}
	return o
}

// mostKeys bounds the keys that are read of one file, because go-toml compares each key with all others of its table.
const mostKeys = 5_000

// parseTOML parses a file. Before a fault it returns the tables up to there, and an error.
func parseTOML(text string) (object, error) {
	if rest := strings.SplitAfterN(text, "=", mostKeys+1); len(rest) > mostKeys {
		read := text[:len(text)-len(rest[mostKeys])]
		text = read[:strings.LastIndexByte(read, '\n')+1]
	}
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	t := make(map[string]any)
	err := toml.Unmarshal([]byte(text), &t)
	at, rest := make(map[string]int), -len(text) // position where a key first begins a line, counted from the end of the text
	for l := range strings.Lines(text) {
		key, _, _ := strings.Cut(l, "=")
		if key = strings.Trim(strings.TrimSpace(key), `"`); at[key] == 0 {
			at[key] = rest
		}
		rest += len(l)
	}
	o, _ := tomlValue(t, at).(object)
	return o, err
}

// tomlValue puts keys that begin lines in their order, and the others after them.
func tomlValue(value any, at map[string]int) any {
	switch v := value.(type) {
	case map[string]any:
		o := object{}
		for key, value := range v {
			o = append(o, member{key, tomlValue(value, at)})
		}
		stable.Sort(o, func(a, b member) int {
			return cmp.Or(cmp.Compare(at[a.key], at[b.key]), strings.Compare(a.key, b.key))
		})
		return o
	case []any:
		for i := range v {
			v[i] = tomlValue(v[i], at)
		}
	}
	return value
}

// readCargo reads a Cargo.toml by its rules, and adds the programs and usual entry points. A mere workspace has none.
func readCargo(f *file, text string) error {
	t, err := f.tree(parseTOML, text)
	if f.Name == "" {
		return err
	}
	f.entry(cmp.Or(t.text("lib/path"), "src/lib.rs"))
	for _, bin := range t.objects("bin") {
		name := bin.text("name")
		f.command(name)
		f.entry(cmp.Or(bin.text("path"), "src/bin/"+name+".rs"))
	}
	f.entry("src/main.rs")
	return err
}

// parseXML parses XML. An element with only text becomes that text. Any other element becomes a mapping of its
// attributes, its elements, and its text under "". Entities other than the five of XML itself are kept as they are.
// Text that MSBuild computes is empty.
func parseXML(text string) (object, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	r := xmlReader{decoder: d}
	o := r.content(nil, 0)
	if errors.Is(r.err, io.EOF) {
		return o, nil
	}
	return o, r.err
}

type xmlReader struct {
	decoder *xml.Decoder
	err     error
}

// content reads up to the end of an element.
func (r *xmlReader) content(attributes []xml.Attr, level int) object {
	var o object
	for _, a := range attributes {
		o = append(o, member{a.Name.Local, a.Value})
	}
	var text strings.Builder
	for open := true; open && r.err == nil; {
		var t xml.Token
		if t, r.err = r.decoder.RawToken(); level > depth {
			r.err = errors.New("elements are nested too deeply")
		}
		switch t := t.(type) {
		case xml.StartElement:
			inside := r.content(t.Attr, level+1)
			if len(inside) == 1 && inside[0].key == "" {
				o = append(o, member{t.Name.Local, inside[0].value})
			} else {
				o = append(o, member{t.Name.Local, inside})
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			open = false
		}
	}
	if s := strings.TrimSpace(text.String()); !strings.Contains(s, "$(") {
		o = append(o, member{"", s})
	}
	return o
}
