package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/seed889630bf/lastword/messages"
)

// location is the URL of a schema without an id.
const location = "schema:"

// Read compiles a JSON Schema. References may only point into the schema itself.
func Read(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it loads nothing
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	return c.Compile(location)
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// Compile compiles a schema, and checks that its defaults fit it. An empty schema accepts anything.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{}`)
	}
	compiled, err := Read(raw)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled}, defaultsFit(compiled)
}

func defaultsFit(s *jsonschema.Schema) error {
	for name, p := range s.Properties {
		if p.Default != nil && p.Validate(*p.Default) != nil {
			return fmt.Errorf("the default of %s does not fit its schema", name)
		}
		if err := defaultsFit(p); err != nil {
			return err
		}
	}
	return nil
}

// Fit returns the value in the form that the schema asks for, or an invalid_input error that says what does not fit.
// It accepts what clients send: null for a member left out, 5.0 for an integer, a list or an object as JSON in a
// string, and a number for a choice among strings.
func (s *Schema) Fit(raw json.RawMessage) (json.RawMessage, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, messages.InvalidInput("the arguments are not JSON: %v", err)
	}
	value, changed := read(s.compiled, value)
	err = s.compiled.Validate(value)
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return nil, messages.InvalidInput("wrong arguments: %s", s.problems(e))
	}
	if err != nil || !changed {
		return raw, err
	}
	return json.Marshal(value)
}

// read converts the value to what the schema asks for, and reports whether that changed it.
func read(s *jsonschema.Schema, value any) (any, bool) {
	s = target(s)
	changed := false
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			p := s.Properties[name]
			if p == nil {
				continue
			}
			if member == nil && !nullable(target(p)) {
				delete(v, name)
				changed = true
				continue
			}
			m, other := read(p, member)
			v[name], changed = m, changed || other
		}
	case []any:
		for i := range v {
			if s.Items2020 != nil {
				m, other := read(s.Items2020, v[i])
				v[i], changed = m, changed || other
			}
		}
	case json.Number:
		return readNumber(s, v)
	case string:
		return readText(s, v)
	}
	return value, changed
}

// readNumber converts a number to a choice among strings or to an integer, if the schema asks for one.
func readNumber(s *jsonschema.Schema, n json.Number) (any, bool) {
	types := typesOf(s)
	switch {
	case slices.Equal(types, []string{"string"}) && s.Enum != nil && slices.Contains(s.Enum.Values, any(n.String())):
		return n.String(), true
	case slices.Contains(types, "integer") && bytes.ContainsAny([]byte(n), ".eE") && len(n) < 32:
		if exact, ok := new(big.Rat).SetString(n.String()); ok && exact.IsInt() && exact.Num().BitLen() <= 64 {
			return json.Number(exact.Num().String()), true
		}
	}
	return n, false
}

// readText decodes a text that holds an object or a list, if the schema asks for one.
func readText(s *jsonschema.Schema, text string) (any, bool) {
	types := typesOf(s)
	if len(types) == 0 || slices.Contains(types, "string") {
		return text, false
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return text, false
	}
	_, object := value.(map[string]any)
	_, list := value.([]any)
	if object && slices.Contains(types, "object") || list && slices.Contains(types, "array") {
		value, _ = read(s, value)
		return value, true
	}
	return text, false
}

// target follows the schema's references.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 { // references may form a circle
		if s.Ref == nil {
			break
		}
		s = s.Ref
	}
	return s
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Types == nil {
		return nil
	}
	return s.Types.ToStrings()
}

// nullable reports whether the schema accepts null.
func nullable(s *jsonschema.Schema) bool {
	switch types := typesOf(s); {
	case len(types) > 0:
		return slices.Contains(types, "null")
	case s.Enum != nil:
		return slices.Contains(s.Enum.Values, nil)
	}
	return true
}

// mostProblems is the greatest number of problems in one error.
const mostProblems = 4

// problems describes what is wrong with which part of the value.
func (s *Schema) problems(e *jsonschema.ValidationError) string {
	var all []string
	s.collect(e, &all)
	slices.Sort(all)
	all = slices.Compact(all)
	return strings.Join(all[:min(len(all), mostProblems)], "; ")
}

var english = message.NewPrinter(language.English)

// collect adds the problems of an error and of its causes, which are a tree.
func (s *Schema) collect(e *jsonschema.ValidationError, all *[]string) {
	choice := false
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		choice = true // what each alternative rejects is too much to read
	}
	if len(e.Causes) > 0 && !choice {
		for _, cause := range e.Causes {
			s.collect(cause, all)
		}
		return
	}
	name := strings.Join(e.InstanceLocation, ".")
	add := func(member, format string, args ...any) {
		at := strings.Trim(name+"."+member, ".")
		*all = append(*all, strings.TrimSpace(at+" "+fmt.Sprintf(format, args...)))
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, missing := range k.Missing {
			add(missing, "is missing")
		}
	case *kind.AdditionalProperties:
		for _, unknown := range k.Properties {
			add(unknown, "is not known: %s", s.known(e.InstanceLocation))
		}
	case *kind.Minimum:
		add("", "must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		add("", "must be at most %s", k.Want.RatString())
	default:
		said := e.ErrorKind.LocalizedString(english)
		if choice {
			said = "fits none of the alternatives in the schema"
		}
		add("", "is wrong: %s", said)
	}
}

// known lists the members that the schema has at the path.
func (s *Schema) known(path []string) string {
	held := target(s.compiled)
	for _, step := range path {
		next := held.Properties[step]
		if next == nil {
			next = held.Items2020
		}
		if next == nil {
			break
		}
		held = target(next)
	}
	if len(held.Properties) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(slices.Sorted(maps.Keys(held.Properties)), ", ")
}
