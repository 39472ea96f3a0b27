package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed889630bf/lastword/messages"
)

// Schema is what values are held to.
type Schema struct{ compiled *jsonschema.Schema }

// AnyObject is the schema of any arguments.
const AnyObject = `{"type":"object"}`

// location is what a schema without an id is called.
const location = "schema:"

// Compile reads a JSON Schema, whose references stay within it and whose defaults fit it.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // which loads nothing
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(location)
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

// OfObject reports why the schema is not one of an object that clients can read.
func OfObject(raw json.RawMessage) error {
	var schema struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return err
	}
	if schema.Type != "object" {
		return errors.New(`its type is not "object"`)
	}
	return legible(raw)
}

// legible reports what clients could not read of a schema that is otherwise good: the official TypeScript ones take
// no list of tools where a property's schema is true or false.
func legible(raw json.RawMessage) error {
	list, err := members(raw)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.name != "properties" {
			continue
		}
		properties, err := members(m.value)
		if err != nil {
			return err
		}
		for _, p := range properties {
			if p.value[0] != '{' {
				return fmt.Errorf("its property %s is %s; write {} for any value", p.name, p.value)
			}
		}
	}
	return nil
}

// Check reports as invalid_input what the schema has against the value.
func (s *Schema) Check(raw json.RawMessage) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return messages.InvalidInput("it is not JSON: %v", err)
	}
	return s.validate("", value)
}

func (s *Schema) validate(what string, value any) error {
	err := s.compiled.Validate(value)
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return messages.InvalidInput("%s%s", what, s.problems(e, value))
	}
	return err
}

// Fit returns the arguments as the schema has them, or reports as invalid_input what it has against them. It takes
// them as clients send them: a null where there may be none is an argument left out, 5.0 is an integer, a list or an
// object may come as JSON in a string, and a choice among texts as a number.
func (s *Schema) Fit(arguments json.RawMessage) (json.RawMessage, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil, messages.InvalidInput("the arguments are not JSON: %v", err)
	}
	value, changed := read(s.compiled, value)
	if err := s.validate("wrong arguments: ", value); err != nil {
		return nil, err
	}
	if !changed {
		return arguments, nil
	}
	return json.Marshal(value)
}

// read returns the value as the schema has it, and whether that is another.
func read(s *jsonschema.Schema, value any) (any, bool) {
	s = target(s)
	switch v := value.(type) {
	case map[string]any:
		changed := false
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
		return v, changed
	case []any:
		items, _ := s.Items.(*jsonschema.Schema)
		if items == nil {
			items = s.Items2020
		}
		changed := false
		for i := range v {
			if items != nil {
				m, other := read(items, v[i])
				v[i], changed = m, changed || other
			}
		}
		return v, changed
	case json.Number:
		return readNumber(s, v)
	case string:
		return readText(s, v)
	}
	return value, false
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
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		return text, false
	}
	switch value.(type) {
	case map[string]any:
		if slices.Contains(types, "object") {
			value, _ = read(s, value)
			return value, true
		}
	case []any:
		if slices.Contains(types, "array") {
			value, _ = read(s, value)
			return value, true
		}
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

// Nest returns the schema whole with the part as the schema of its property. Errors: where the outcome is no schema.
func Nest(whole, part json.RawMessage, property string) (json.RawMessage, error) {
	var own struct {
		ID   string          `json:"$id"`
		Defs json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(part, &own); err != nil {
		return nil, err
	}
	var err error
	if own.Defs != nil && own.ID == "" { // its references begin at the root
		if whole, part, err = hoist(whole, part); err != nil {
			return nil, err
		}
	}
	if whole, err = put(whole, part, "properties", property); err != nil {
		return nil, err
	}
	if err := legible(whole); err != nil {
		return nil, err
	}
	_, err = Compile(whole)
	return whole, err
}

// hoist moves the definitions of a part to the whole.
func hoist(whole, part json.RawMessage) (json.RawMessage, json.RawMessage, error) {
	list, err := members(part)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range list {
		if m.name == "$defs" {
			whole, err = put(whole, m.value, "$defs")
			return whole, join(slices.Delete(list, i, i+1)), err
		}
	}
	return whole, part, nil
}
