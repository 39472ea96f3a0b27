package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

// Schema is what values are held to.
type Schema struct{ resolved *jsonschema.Resolved }

// Compile reads a JSON Schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, err
	}
	return &Schema{resolved}, nil
}

// AnyObject is the schema of any arguments.
const AnyObject = `{"type":"object"}`

// Check says what the schema has against the value.
func (s *Schema) Check(value any) error { return s.resolved.Validate(value) }

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

// legible reports what clients could not read of a schema that is otherwise good: the official TypeScript ones take no
// list of tools where a property's schema is true or false.
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

// Fit reports as invalid_input what the schema has against the arguments. An argument that is null is one that is
// left out, as many clients write it, unless its schema has null: the arguments are returned without it.
func (s *Schema) Fit(arguments json.RawMessage) (json.RawMessage, error) {
	schema := s.resolved
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return nil, caller.Invalid("the arguments are not JSON: %v", err)
	}
	given, _ := value.(map[string]any)
	var absent []string
	for name, v := range given {
		if p := schema.Schema().Properties[name]; v == nil && p != nil && !nullable(p) {
			absent = append(absent, name)
			delete(given, name)
		}
	}
	if err := schema.Validate(value); err != nil {
		return nil, caller.Invalid("the arguments do not fit the tool's input schema: %s", misfit(err.Error(), schema.Schema(), given))
	}
	if len(absent) == 0 {
		return arguments, nil
	}
	list, err := members(arguments)
	return join(slices.DeleteFunc(list, func(m member) bool { return slices.Contains(absent, m.name) })), err
}

// nullable reports whether the schema may have null for a value.
func nullable(s *jsonschema.Schema) bool {
	switch {
	case s.Type != "":
		return s.Type == "null"
	case len(s.Types) > 0:
		return slices.Contains(s.Types, "null")
	case s.Enum != nil:
		return slices.Contains(s.Enum, nil)
	}
	return true
}

// Nest returns the schema whole with the part as the schema of its property. Errors: where the outcome is no schema.
func Nest(whole, part json.RawMessage, property string) (json.RawMessage, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(part, &schema); err != nil {
		return nil, err
	}
	if len(schema.Defs) > 0 && schema.ID == "" { // its references begin at the root
		var err error
		if whole, part, err = hoist(whole, part); err != nil {
			return nil, err
		}
	}
	whole, err := put(whole, part, "properties", property)
	if err == nil {
		err = legible(whole)
	}
	if err == nil {
		_, err = Compile(whole)
	}
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
