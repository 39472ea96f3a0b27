package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

// member is a member of a JSON object. Lists of them keep the order of the text, which people and models read.
type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("it is not an object")

func members(object json.RawMessage) (list []member, err error) {
	ok := jsonwalk.Object(object, func(key, value []byte) { list = append(list, member{string(key), value}) })
	if !ok {
		return nil, errNoObject
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
	return Compact(append(out, '}'))
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

// Compact is the JSON without its white space, or what it was where it is no JSON.
func Compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Object is the JSON Schema of an object with the properties, each a `"name": {schema}`, and no others.
func Object(required []string, properties ...string) json.RawMessage {
	schema := []byte(`{"type":"object","additionalProperties":false`)
	if len(required) > 0 {
		names, _ := json.Marshal(required)
		schema = append(append(schema, `,"required":`...), names...)
	}
	schema = append(schema, `,"properties":{`...)
	for i, p := range properties {
		if i > 0 {
			schema = append(schema, ',')
		}
		schema = append(schema, p...)
	}
	return append(schema, "}}"...)
}
