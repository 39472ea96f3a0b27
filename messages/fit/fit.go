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

// location is what a schema without an id is called.
const location = "schema:"

// Read reads a JSON Schema, whose references stay within it.
func Read(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // which loads nothing
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	return c.Compile(location)
}

// Schema is what values are held to.
type Schema struct{ compiled *jsonschema.Schema }

// Compile is Read of a schema whose defaults fit it. Without one anything fits.
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

// Fit returns the value as the schema has it, or reports as invalid_input what the schema has against it. It takes it
// as clients send it: a null where there may be none is a member left out, 5.0 is an integer, a list or an object may
// come as JSON in a string, and a choice among texts as a number.
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

// read returns the value as the schema has it, and whether that is another.
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

// target is the schema that the schema refers to, or itself.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 { // references may go in a circle
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

// nullable reports whether the schema may have null for a value.
func nullable(s *jsonschema.Schema) bool {
	switch types := typesOf(s); {
	case len(types) > 0:
		return slices.Contains(types, "null")
	case s.Enum != nil:
		return slices.Contains(s.Enum.Values, nil)
	}
	return true
}

// mostProblems is how many problems one error names.
const mostProblems = 4

// problems says what is wrong, and with which part of the value.
func (s *Schema) problems(e *jsonschema.ValidationError) string {
	var all []string
	s.collect(e, &all)
	slices.Sort(all)
	all = slices.Compact(all)
	return strings.Join(all[:min(len(all), mostProblems)], "; ")
}

var english = message.NewPrinter(language.English)

func (s *Schema) collect(e *jsonschema.ValidationError, all *[]string) {
	choice := false
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		choice = true // what each of them has against it is too much to read
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
