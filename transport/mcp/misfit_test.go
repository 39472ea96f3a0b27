package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/mcp"
)

// What is wrong with arguments is said as people say it, with the argument's name and what it was.
func TestArgumentsThatDoNotFitAreNamed(t *testing.T) {
	s, _ := doorTo(t, mcp.Config{}, nil)
	const schema = `{"type":"object","required":["id"],"additionalProperties":false,"$defs":{"age":{"maximum":150}},
		"properties":{"id":{},"wait_ms":{"type":"integer","minimum":0,"maximum":50000},
		"p":{"exclusiveMinimum":0.25,"exclusiveMaximum":1.5,"multipleOf":0.5},
		"name":{"type":["string","null"],"minLength":1,"maxLength":3,"pattern":"^[a-z]+$"},
		"kind":{"enum":["a","b",3]},"only":{"const":{"x":1}},"age":{"$ref":"#/$defs/age"},
		"tags":{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"string"}},
		"deep":{"type":"object","properties":{"n/m":{"type":"number","maximum":7}},"required":["n/m"]},
		"mode":{"anyOf":[{"type":"boolean"},{"type":"object","properties":{"ms":{"maximum":5}}}]}}}`
	err := mcp.AddTool(s, mcp.Tool{Name: "try", ReadOnly: true, Input: json.RawMessage(schema)},
		func(context.Context, map[string]any) (*mcp.Result, error) {
			return &mcp.Result{Text: "fits"}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, s, legacyHTTP)
	for _, test := range [][2]string{
		{`"wait_ms":60000`, `wait_ms is 60000: at most 50000`},
		{`"wait_ms":-1`, `wait_ms is -1: at least 0`},
		{`"wait_ms":"5"`, `wait_ms is "5": must be an integer`},
		{`"wait_ms":1.5`, `wait_ms is 1.5: must be an integer`},
		{`"p":0`, `p is 0: more than 0.25`},
		{`"p":2`, `p is 2: less than 1.5`},
		{`"p":0.7`, `p is 0.7: must be a multiple of 0.5`},
		{`"name":""`, `name is "": at least 1 character`},
		{`"name":"abcd"`, `name is "abcd": at most 3 characters`},
		{`"name":"A"`, `name is "A": must match the pattern ^[a-z]+$`},
		{`"name":7`, `name is 7: must be a string or null`},
		{`"kind":"c"`, `kind is "c": must be "a" or "b" or 3`},
		{`"only":1`, `only is 1: must be {"x":1}`},
		{`"age":151`, `age is 151: at most 150`},
		{`"tags":[]`, `tags is []: at least 1 item`},
		{`"tags":["a","b","c"]`, `tags is ["a","b","c"]: at most 2 items`},
		{`"tags":["a","a"]`, `tags is ["a","a"]: no two items may be the same`},
		{`"tags":["a",1]`, `tags is ["a",1]: each item must be a string`},
		{`"deep":{"n/m":8}`, `deep.n/m is 8: at most 7`},
		{`"deep":{}`, `deep is {}: missing properties: ["n/m"]`},
		{`"mode":{"ms":6}`, `mode is {"ms":6}: is none of what the tool's input schema has`},
		{`"more":1`, `unexpected additional properties ["more"]`},
	} {
		said := c.fails("invalid_input", "try", json.RawMessage(`{"id":1,`+test[0]+`}`))
		if _, what, _ := strings.Cut(said, "schema: "); what != test[1] {
			t.Errorf("%s: %s, want %s", test[0], what, test[1])
		}
	}
	said := c.fails("invalid_input", "try", json.RawMessage(`{}`))
	if !strings.HasSuffix(said, `: missing properties: ["id"]`) {
		t.Error(said)
	}
}
