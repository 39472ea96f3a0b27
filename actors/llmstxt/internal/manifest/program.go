package manifest

import (
	"cmp"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// programBytes is how much of a program is read.
const programBytes = 64 << 10

// quoted matches a string of a program, and strung several that stand side by side.
const (
	quoted = `(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')`
	strung = `(` + quoted + `(?:\s*` + quoted + `)*)`
)

var (
	literals = regexp.MustCompile(quoted)
	patterns sync.Map // by their texts
)

// pattern returns a pattern of readers.txt, which is compiled when a file first needs it.
func pattern(text string) *regexp.Regexp {
	known, ok := patterns.Load(text)
	if !ok {
		known, _ = patterns.LoadOrStore(text, regexp.MustCompile(strings.ReplaceAll(text, "<s>", strung)))
	}
	return known.(*regexp.Regexp)
}

// program is a manifest that is a program, without its comments. Patterns find what it says.
type program struct {
	text   string
	rules  map[string]rule
	quoted map[int]int // lengths of strings, by their places
}

func (f *file) program(text string) program {
	text = text[:min(len(text), programBytes)]
	drop := pattern(quoted + "|" + strings.Join(f.rules["drop"].places, "|"))
	text = drop.ReplaceAllStringFunc(text, func(s string) string {
		if strings.IndexByte(`"'`, s[0]) < 0 {
			return ""
		}
		return s
	})
	p := program{text, f.rules, make(map[int]int)}
	for _, match := range literals.FindAllStringIndex(text, -1) {
		p.quoted[match[0]] = match[1] - match[0]
	}
	return p
}

// testProgram matches the name of a program that a build makes to try itself.
var testProgram = lazyregexp.New(`(?i)(^|[_.-])(tests?|bench(marks?)?|fuzz(er)?|examples?)([_.-]|$)`)

// readProgram reads what patterns find.
func readProgram(f *file, text string) error {
	p := f.program(text)
	f.fill(p.value)
	for field, r := range f.rules {
		for _, place := range r.places {
			switch field {
			case "dependencies":
				f.Dependencies = append(f.Dependencies, p.all(place)...)
			case "members":
				for _, member := range p.all(place) {
					f.Members = append(f.Members, member+r.word)
				}
			case "commands":
				f.command(slices.DeleteFunc(p.all(place), testProgram.MatchString)...)
			case "entries":
				f.entry(p.all(place)...)
			case "points":
				for _, point := range p.all(place) {
					f.pythonScript(point)
				}
			case "public":
				f.Private = len(p.all(place)) == 0
			}
		}
	}
	if f.Name == "" && f.Ecosystem == "opam" {
		f.Name = strings.TrimSuffix(path.Base(f.Path), ".opam")
	}
	return nil
}

// value returns the first text at a place: a pattern, or a key that stands for KEY in the patterns for values. Where
// the program has a name instead of a text, the value is what the name stands for.
func (p program) value(place string) string {
	if strings.ContainsAny(place, `\(<`) {
		return cmp.Or(p.all(place)...)
	}
	of := func(rule, key string) (values []string) {
		for _, form := range p.rules[rule].places {
			values = append(values, p.all(strings.ReplaceAll(form, "KEY", regexp.QuoteMeta(key)))...)
		}
		return values
	}
	if v := cmp.Or(of("value", place)...); v != "" {
		return v
	}
	name := cmp.Or(of("named", place)...)
	for _, form := range p.rules["where"].places {
		before, after, _ := strings.Cut(form, "KEY")
		re := regexp.MustCompile(strings.ReplaceAll(before+regexp.QuoteMeta(name)+after, "<s>", strung))
		if m := re.FindStringSubmatch(p.text); name != "" && m != nil {
			return unquoted(m[1])
		}
	}
	return ""
}

// all returns what the last group of a pattern matches, or the whole of it. Before "<1>" or "<2>" in a pattern is one
// that opens brackets; the rest then holds for what is in them, and that deep. Texts with variables are left out.
func (p program) all(place string) (found []string) {
	texts := []string{p.text}
	for deep, mark := range []string{"<1>", "<2>"} {
		if opening, inside, ok := strings.Cut(place, mark); ok {
			texts, place = p.inside(opening, deep+1), inside
		}
	}
	for _, text := range texts {
		for _, m := range pattern(place).FindAllStringSubmatch(text, listItems) {
			if v := unquoted(m[len(m)-1]); v != "" && !strings.Contains(v, "$") && !strings.Contains(v, "#{") {
				found = append(found, v)
			}
		}
	}
	return found
}

// inside returns what is in the brackets that matches of a pattern open, without what is nested deeper.
func (p program) inside(opening string, deep int) (texts []string) {
	for i := 0; ; {
		match := pattern(opening).FindStringIndex(p.text[i:])
		if match == nil {
			return texts
		}
		i += match[0] + max(0, strings.LastIndexAny(p.text[i+match[0]:i+match[1]], "([{"))
		var b strings.Builder
		for level, open := 0, true; open && i < len(p.text); open = level > 0 {
			size, closed := max(1, p.quoted[i]), 0
			switch p.text[i] {
			case '(', '[', '{':
				level++
			case ')', ']', '}':
				closed = 1
			}
			if level <= deep {
				b.WriteString(p.text[i : i+size])
			}
			i, level = i+size, level-closed
		}
		texts = append(texts, b.String())
	}
}

// unquoted returns the text of literals side by side, and any other text as it is.
func unquoted(s string) string {
	if s == "" || strings.IndexByte(`"'`, s[0]) < 0 {
		return s
	}
	parts := literals.FindAllString(s, -1)
	if parts == nil {
		parts = []string{s}
	}
	for i, part := range parts {
		quote := 1
		if len(part) > 5 && (part[:3] == `"""` || part[:3] == "'''") {
			quote = 3
		}
		parts[i] = unescape(part[quote : len(part)-quote])
	}
	return strings.Join(parts, "")
}

// unescape decodes the escapes of JSON. For other escapes it drops the backslash.
func unescape(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(`"`+raw+`"`), &s) == nil {
		return s
	}
	return strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, "", `\\`, `\`, `\`, "").Replace(raw)
}
