package mcp_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed889630bf/lastword/messages"
)

// schemas compiles the output schemas of the tools that are listed.
func (c *client) schemas() map[string]*jsonschema.Schema {
	c.t.Helper()
	var list struct {
		Tools []struct {
			Name   string
			Output json.RawMessage `json:"outputSchema"`
		}
	}
	must(c.t, json.Unmarshal(c.do("tools/list", nil).Result, &list))
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range list.Tools {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.Output))
		if err != nil {
			c.t.Fatalf("%s: %v", tool.Name, err)
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		must(c.t, compiler.AddResource("output.json", document))
		if schemas[tool.Name], err = compiler.Compile("output.json"); err != nil {
			c.t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	return schemas
}

// What a run tool answers is what its output schema says, wherever the run stands.
func TestAnswersFitTheirSchemas(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, open, _ := working(t, map[string]string{"a.txt": "A"})
		c := dial(t, s, how)
		schemas := c.schemas()
		seen := map[string]bool{}
		check := func(tool string, arguments map[string]any) toolResult {
			m := c.callTool(tool, arguments, nil).response()
			var r struct {
				Structured json.RawMessage `json:"structuredContent"`
			}
			must(t, json.Unmarshal(m.Result, &r))
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Structured))
			if err == nil {
				err = schemas[tool].Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v: %s", tool, err, r.Structured)
			}
			if schemas[tool].Validate(map[string]any{}) == nil {
				t.Errorf("the output schema of %s allows anything", tool)
			}
			seen[tool] = true
			return m.toolResult(t)
		}
		start := func(in work) map[string]any {
			return of(check("run_start", map[string]any{"job": "work", "input": in, "labels": map[string]string{"a": "b"}}).Structured.RunID)
		}
		waiting, asking := start(work{Wait: true}), start(work{Ask: true, Wait: true})
		failing, working := start(work{Fail: "no"}), start(work{Wait: true, Text: "x"})
		check("run_cancel", waiting)
		check("run_wait", asking)
		check("run_get", asking)
		if said := check("run_say", of(working["run_id"].(messages.RunID), "content", "x")); said.IsError {
			t.Errorf("a run takes no message: %+v", said)
		}
		check("run_answer", of(asking["run_id"].(messages.RunID), "request", "q", "value", nil))
		open()
		for _, run := range []map[string]any{waiting, failing, working, asking} {
			for _, tool := range []string{"run_wait", "run_get", "run_events"} {
				check(tool, run)
			}
		}
		check("run_attach", asking)
		check("run_read", of(asking["run_id"].(messages.RunID), "name", "a.txt"))
		// The official clients hold a failure to the schema too, and would not tell the model what is wrong.
		for tool, schema := range schemas {
			var r struct {
				IsError    bool `json:"isError"`
				Structured any  `json:"structuredContent"`
			}
			m := c.callTool(tool, map[string]any{"run_id": "r_nobodys", "no_such": 1}, nil).response()
			if err := json.Unmarshal(m.Result, &r); err != nil || tool != "work" && !r.IsError {
				t.Errorf("%s: %v %s", tool, err, m.Result)
			}
			if r.Structured != nil && schema.Validate(r.Structured) != nil {
				t.Errorf("the failure of %s does not fit its schema: %s", tool, m.Result)
			}
		}
		check("work", map[string]any{})
		check("run_list", map[string]any{})
		check("run_list", map[string]any{"status": "working"})
		for tool := range schemas {
			if !seen[tool] {
				t.Errorf("%s was not tried", tool)
			}
		}
	})
}
