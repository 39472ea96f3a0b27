package task

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// An elicitation allows only flat objects of plain fields: a schema that fits is asked as it is, a plain value in an
// object, and anything else as a text that holds JSON. On the way back the run gets what its own schema says.
func TestFormAsksWhatClientsCanShow(t *testing.T) {
	for _, c := range []struct {
		name, schema, requested, content, value string
	}{
		{"nothing", ``,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string"}}}`,
			`{"value":"yes"}`, `"yes"`},
		{"a text", `{"type":"string","minLength":2}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string","minLength":2}}}`,
			`{"value":"yes"}`, `"yes"`},
		{"a truth value", `{"type":"boolean","default":false}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"boolean","default":false}}}`,
			`{"value":true}`, `true`},
		{"a great number", `{"type":"integer"}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"integer"}}}`,
			`{"value":9007199254740993}`, `9007199254740993`},
		{"a choice", `{"enum":["a","b"]}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string","enum":["a","b"]}}}`,
			`{"value":"b"}`, `"b"`},
		{"several of a choice", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`,
			`{"type":"object","required":["value"],
				"properties":{"value":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}`,
			`{"value":["a","b"]}`, `["a","b"]`},
		{"what clients do not know of a text", `{"type":"string","pattern":"^a","format":"hostname"}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string"}}}`,
			`{"value":"abc"}`, `"abc"`},
		{"a flat object",
			`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`,
			`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`,
			`{"name":"Ann","age":3}`, `{"name":"Ann","age":3}`},
		{"a nested object", `{"type":"object","properties":{"a":{"type":"object"}}}`, "",
			`{"value":"{\"a\":{\"b\":1}}"}`, `{"a":{"b":1}}`},
		{"an object of choices", `{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{}]}`, "",
			`{"value":"{\"a\":\"x\"}"}`, `{"a":"x"}`},
		{"any object", `{"type":"object"}`, "", `{"value":"{\"x\":[1]}"}`, `{"x":[1]}`},
		{"a list", `{"type":"array","items":{"type":"number"}}`, "", `{"value":"[1,2.5]"}`, `[1,2.5]`},
		{"anything", `{}`, "", `{"value":"null"}`, `null`},
		{"everything", `true`, "", `{"value":"[1]"}`, `[1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.requested == "" {
				description, _ := json.Marshal("JSON that fits the schema " + c.schema)
				c.requested = `{"type":"object","required":["value"],"properties":{"value":{"type":"string","description":` +
					string(description) + `}}}`
			}
			f := formOf(json.RawMessage(c.schema))
			sameJSON(t, f.requested, c.requested)
			value, err := f.answer(json.RawMessage(c.content))
			if err != nil || string(value) != c.value {
				t.Fatalf("%s, %v; want %s", value, err, c.value)
			}
		})
	}
}

func sameJSON(t *testing.T, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	fatal.IfError(t, err)
	var a, b any
	if json.Unmarshal(text, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// A response without an answer is refused in words that say why.
func TestFormRefusesWhatIsNoAnswer(t *testing.T) {
	for _, c := range []struct{ name, schema, content string }{
		{"no content", `{"type":"string"}`, ``},
		{"no object", `{"type":"string"}`, `"yes"`},
		{"no value", `{"type":"string"}`, `{"answer":"yes"}`},
		{"null for an object", `{"type":"object","properties":{"a":{"type":"string"}}}`, `null`},
		{"no JSON in the text", `{"type":"array"}`, `{"value":"[1,"}`},
		{"JSON and no text", `{"type":"array"}`, `{"value":[1]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, err := formOf(json.RawMessage(c.schema)).answer(json.RawMessage(c.content))
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Fatalf("%s, %v", value, err)
			}
		})
	}
}

// A schema that cannot be read holds nobody up: the user is asked for JSON, and the job judges.
func TestFormOfABrokenSchema(t *testing.T) {
	for _, schema := range []string{`{`, `7`, `{"$ref":"#/nowhere"}`} {
		f := formOf(json.RawMessage(schema))
		if value, err := f.answer(json.RawMessage(`{"value":"{\"a\":1}"}`)); err != nil || string(value) != `{"a":1}` {
			t.Errorf("%s: %s, %v", schema, value, err)
		}
	}
}
