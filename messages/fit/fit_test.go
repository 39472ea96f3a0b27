package fit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/fit"
)

const tried = `{"type":"object","required":["id"],"additionalProperties":false,"$defs":{"age":{"maximum":150}},
	"properties":{"id":{},"wait_ms":{"type":"integer","minimum":0,"maximum":50000},
	"p":{"exclusiveMinimum":0.25,"exclusiveMaximum":1.5,"multipleOf":0.5},
	"name":{"type":["string","null"],"minLength":1,"maxLength":3,"pattern":"^[a-z]+$"},
	"kind":{"enum":["a","b",3]},"only":{"const":{"x":1}},"age":{"$ref":"#/$defs/age"},
	"format":{"type":"string","enum":["1","2"]},
	"tags":{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"string"}},
	"deep":{"type":"object","properties":{"n/m":{"type":"number","maximum":7}},"required":["n/m"]},
	"mode":{"anyOf":[{"type":"boolean"},{"type":"object","properties":{"ms":{"maximum":5}}}]}}}`

func compiled(t *testing.T, raw string) *fit.Schema {
	t.Helper()
	s, err := fit.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is wrong with arguments is said as people say it: which one, what it was, and what it may be; and all of it.
func TestWhatIsWrongIsNamed(t *testing.T) {
	s := compiled(t, tried)
	const known = "is not known: there are age, deep, format, id, kind, mode, name, only, p, tags, wait_ms"
	for given, want := range map[string]string{
		`{"id":1,"wait_ms":60000}`:           `wait_ms must be at most 50000`,
		`{"id":1,"wait_ms":-1}`:              `wait_ms must be at least 0`,
		`{"id":1,"wait_ms":"5"}`:             `wait_ms is wrong: got string, want integer`,
		`{"id":1,"wait_ms":1.5}`:             `wait_ms is wrong: got number, want integer`,
		`{"id":1,"p":0}`:                     `p is wrong: exclusiveMinimum: got 0, want 0.25`,
		`{"id":1,"p":2}`:                     `p is wrong: exclusiveMaximum: got 2, want 1.5`,
		`{"id":1,"p":0.7}`:                   `p is wrong: multipleOf: got 0.7, want 0.5`,
		`{"id":1,"name":""}`:                 `name is wrong: '' does not match pattern '^[a-z]+$'; name is wrong: minLength: got 0, want 1`,
		`{"id":1,"name":"abcd"}`:             `name is wrong: maxLength: got 4, want 3`,
		`{"id":1,"name":"A"}`:                `name is wrong: 'A' does not match pattern '^[a-z]+$'`,
		`{"id":1,"name":7}`:                  `name is wrong: got number, want null or string`,
		`{"id":1,"kind":"c"}`:                `kind is wrong: value must be one of 'a', 'b', 3`,
		`{"id":1,"format":3}`:                `format is wrong: got number, want string`,
		`{"id":1,"only":1}`:                  `only is wrong: 'const' failed`,
		`{"id":1,"age":151}`:                 `age must be at most 150`,
		`{"id":1,"tags":[]}`:                 `tags is wrong: minItems: got 0, want 1`,
		`{"id":1,"tags":["a","b","c"]}`:      `tags is wrong: maxItems: got 3, want 2`,
		`{"id":1,"tags":["a","a"]}`:          `tags is wrong: items at 0 and 1 are equal`,
		`{"id":1,"tags":["a",1]}`:            `tags.1 is wrong: got number, want string`,
		`{"id":1,"deep":{"n/m":8}}`:          `deep.n/m must be at most 7`,
		`{"id":1,"deep":{}}`:                 `deep.n/m is missing`,
		`{"id":1,"mode":{"ms":6}}`:           `mode is wrong: fits none of the alternatives in the schema`,
		`{"id":1,"more":1}`:                  `more ` + known,
		`{}`:                                 `id is missing`,
		`{"more":1}`:                         `id is missing; more ` + known,
		`7`:                                  `is wrong: got number, want object`,
		`{"id":1,"tags":"[\"a\",\"a\"]"}`:    `tags is wrong: items at 0 and 1 are equal`,
		`{"id":1,"deep":"{\"n/m\": \"x\"}"}`: `deep.n/m is wrong: got string, want number`,
	} {
		got, err := s.Fit(json.RawMessage(given))
		if messages.CodeOf(err) != "invalid_input" || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
	}
}

// Arguments are taken as clients and models send them.
func TestArgumentsAsTheyAreSent(t *testing.T) {
	s := compiled(t, tried)
	for given, want := range map[string]string{
		`{"id": 1}`:                           `{"id": 1}`, // as it came
		`{"id":1,"wait_ms":5.0}`:              `{"id":1,"wait_ms":5}`,
		`{"id":1,"wait_ms":5e3}`:              `{"id":1,"wait_ms":5000}`,
		`{"id":1.0}`:                          `{"id":1.0}`,
		`{"id":1,"wait_ms":null,"name":null}`: `{"id":1,"name":null}`,
		`{"id":1,"format":2}`:                 `{"format":"2","id":1}`,
		`{"id":1,"tags":"[\"a\"]"}`:           `{"id":1,"tags":["a"]}`,
		`{"id":1,"deep":"{\"n/m\":1}"}`:       `{"deep":{"n/m":1},"id":1}`,
		`{"id":9007199254740993,"wait_ms":1}`: `{"id":9007199254740993,"wait_ms":1}`,
	} {
		if got, err := s.Fit(json.RawMessage(given)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
	}
}

// A schema stays within itself, whatever it refers to.
func TestSchemasLoadNothing(t *testing.T) {
	for _, ref := range []string{"file:///etc/passwd", "https://example.com/schema.json", "other.json"} {
		if _, err := fit.Compile(json.RawMessage(`{"$ref":"` + ref + `"}`)); err == nil {
			t.Errorf("%s was read", ref)
		}
	}
}
