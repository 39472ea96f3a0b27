package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/fit"
)

// anyObject is the JSON Schema of any arguments.
const anyObject = `{"type":"object"}`

// Object returns the JSON Schema of an object. Each property is given as `"name": {schema}`; others are not allowed.
func Object(required []string, properties ...string) json.RawMessage {
	text := []byte(`{"type":"object","additionalProperties":false`)
	if len(required) > 0 {
		names, _ := json.Marshal(required)
		text = append(append(text, `,"required":`...), names...)
	}
	text = append(text, `,"properties":{`...)
	for i, p := range properties {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, p...)
	}
	return append(text, "}}"...)
}

// legible returns an error (invalid_input) unless the schema is that of an object that clients can read. The official
// TypeScript clients refuse the whole list of tools if a property's schema is true or false.
func legible(tool string, raw json.RawMessage) error {
	var s struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	err := json.Unmarshal(raw, &s)
	if err == nil && s.Type != "object" {
		err = fmt.Errorf(`its type is not "object"`)
	}
	for name, p := range s.Properties {
		if p = bytes.TrimSpace(p); len(p) > 0 && p[0] != '{' {
			err = fmt.Errorf("its property %s is %s; write {} for any value", name, p)
		}
	}
	if err != nil {
		return messages.InvalidInput("a schema of the tool %s is not valid: %v", tool, err)
	}
	return nil
}

// withResult returns the schema of a [RunResult] whose member "result" has the given schema. Definitions move to the
// root, because references begin there.
func withResult(tool string, result json.RawMessage) (json.RawMessage, error) {
	if len(result) == 0 {
		return json.RawMessage(runResultSchema), nil
	}
	var whole, part map[string]json.RawMessage
	if err := json.Unmarshal(result, &part); err != nil {
		return nil, messages.InvalidInput("the output schema of the tool %s is not valid: %v", tool, err)
	}
	var properties map[string]json.RawMessage
	_ = json.Unmarshal([]byte(runResultSchema), &whole) // it is a constant
	_ = json.Unmarshal(whole["properties"], &properties)
	id := string(part["$id"])
	if defs := part["$defs"]; defs != nil && (id == "" || id == `""`) {
		whole["$defs"] = defs
		delete(part, "$defs")
	}
	properties["result"], _ = json.Marshal(part)
	whole["properties"], _ = json.Marshal(properties)
	text, _ := json.Marshal(whole)
	if _, err := fit.Compile(text); err != nil {
		return nil, messages.InvalidInput("the output schema of the tool %s is not valid: %v", tool, err)
	}
	return text, nil
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
