package task

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// form is a question in the form that MCP clients can show: an object with plain fields.
type form struct {
	requested map[string]any
	// field is the field of the content that holds the answer; "" if the whole content is the answer.
	field string
	// coded says that the field holds the answer as JSON in a string.
	coded bool
}

// formField is the name of the field in a form of one field.
const formField = "value"

// formOf returns the form for answers of the schema. If the schema is an object with plain fields, it is used as it is.
// A plain value becomes the only field of an object. Anything else is asked for as JSON in a string. No schema asks for
// a string.
func formOf(raw json.RawMessage) form {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(`{"type":"string"}`)
	}
	var f form
	var s map[string]any
	if json.Unmarshal(raw, &s) == nil {
		if fields, ok := plainFields(s); ok {
			f.requested = fields
			return f
		}
	}
	f.field = formField
	inner, ok := plainField(s)
	if !ok {
		f.coded = true
		inner = map[string]any{"type": "string", "description": "JSON that fits the schema " + string(raw)}
	}
	f.requested = map[string]any{"type": "object", "required": []string{formField}, "properties": map[string]any{formField: inner}}
	return f
}

// plainFields returns an object schema without keywords that clients do not know. It returns false if a field is not
// plain.
func plainFields(s map[string]any) (map[string]any, bool) {
	properties, ok := s["properties"].(map[string]any)
	if s["type"] != "object" || !ok || len(properties) == 0 {
		return nil, false
	}
	for key := range s {
		if !slices.Contains([]string{"$schema", "type", "properties", "required", "title", "description", "additionalProperties"}, key) {
			return nil, false
		}
	}
	fields := make(map[string]any, len(properties))
	for name, p := range properties {
		property, _ := p.(map[string]any)
		if fields[name], ok = plainField(property); !ok {
			return nil, false
		}
	}
	out := map[string]any{"type": "object", "properties": fields}
	if required, ok := s["required"]; ok {
		out["required"] = required
	}
	return out, true
}

// plainField returns the schema of a string, number, boolean or choice without keywords that clients do not know.
// Whether the answer meets the rest of the schema is checked when it comes.
func plainField(s map[string]any) (map[string]any, bool) {
	known := []string{"type", "title", "description", "default"}
	switch s["type"] {
	case "string":
		known = append(known, "minLength", "maxLength", "format", "enum", "enumNames", "oneOf")
	case "number", "integer":
		known = append(known, "minimum", "maximum")
	case "boolean":
	case "array":
		if !isChoice(s["items"]) {
			return nil, false
		}
		known = append(known, "items", "minItems", "maxItems")
	case nil:
		if !isTexts(s["enum"]) {
			return nil, false
		}
		known = append(known, "enum")
	default:
		return nil, false
	}
	out := map[string]any{"type": "string"}
	for _, key := range known {
		if v, ok := s[key]; ok {
			out[key] = v
		}
	}
	if !slices.Contains([]any{"email", "uri", "date", "date-time"}, out["format"]) {
		delete(out, "format")
	}
	return out, true
}

// isChoice reports whether the schema allows one of several strings.
func isChoice(items any) bool {
	s, _ := items.(map[string]any)
	if _, titled := s["anyOf"]; titled {
		return true
	}
	return s["type"] == "string" && isTexts(s["enum"])
}

func isTexts(list any) bool {
	values, _ := list.([]any)
	return len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok })
}

// answer returns the answer in the content of the filled form. The run checks whether it fits. Errors: invalid_input.
func (f form) answer(content json.RawMessage) (json.RawMessage, error) {
	value := content
	if f.field != "" {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(content, &fields)
		value = fields[f.field]
	}
	if f.coded {
		var text string
		_ = json.Unmarshal(value, &text)
		value = json.RawMessage(text)
	}
	if !json.Valid(value) || string(content) == "null" {
		return nil, messages.InvalidInput("the answer is not there, or not JSON: fill in the form of the question")
	}
	return value, nil
}
