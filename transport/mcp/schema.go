package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

// resolve reads a JSON Schema that values are to be held to.
func resolve(raw json.RawMessage) (*jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	return schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
}

// anyObject is the schema of any arguments.
const anyObject = `{"type":"object"}`

// ofObject reports why the schema is not one of an object that clients can read.
func ofObject(raw json.RawMessage) error {
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

// conforms reports as invalid_input what the schema has against the arguments. An argument that is null is one that is
// left out, as many clients write it, unless its schema has null: the arguments are returned without it.
func conforms(schema *jsonschema.Resolved, arguments json.RawMessage) (json.RawMessage, error) {
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

// outputSchema is the schema of a RunResult with the job's own result; any result where there is no schema of it.
func outputSchema(result json.RawMessage) (json.RawMessage, error) {
	whole := json.RawMessage(runResultSchema)
	if len(result) == 0 {
		return whole, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(result, &schema); err != nil {
		return nil, err
	}
	if len(schema.Defs) > 0 && schema.ID == "" { // its references begin at the root
		var err error
		if whole, result, err = hoist(whole, result); err != nil {
			return nil, err
		}
	}
	whole, err := put(whole, result, "properties", "result")
	if err == nil {
		err = legible(whole)
	}
	if err == nil {
		_, err = resolve(whole)
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

// member is a member of a JSON object. Lists of them keep the order of the text, which people and models read.
type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("it is not an object")

func members(object json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errNoObject
	}
	var list []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		list = append(list, member{name.(string), value})
	}
	return list, nil
}

func join(list []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(m.name) // a string always can
		out = append(append(append(out, name...), ':'), m.value...)
	}
	return compacted(append(out, '}'))
}

// put returns the object with the value at the path, whose objects are made where there are none.
func put(object, value json.RawMessage, path ...string) (json.RawMessage, error) {
	list, err := members(object)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(m member) bool { return m.name == path[0] })
	if at < 0 {
		at = len(list)
		list = append(list, member{path[0], json.RawMessage(`{}`)})
	}
	if len(path) > 1 {
		if value, err = put(list[at].value, value, path[1:]...); err != nil {
			return nil, err
		}
	}
	list[at].value = value
	return join(list), nil
}

// compacted is the JSON without its white space, or what it was where it is no JSON.
func compacted(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
