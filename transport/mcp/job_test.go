package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// listedTool is a tool as clients are told of it.
type listedTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  map[string]any  `json:"annotations"`
}

func toolsOf(t testing.TB, c *client) []listedTool {
	t.Helper()
	var list struct {
		Tools []listedTool `json:"tools"`
	}
	must(t, json.Unmarshal(c.do("tools/list", nil).Result, &list))
	return list.Tools
}

func nothing(context.Context, *actors.TaskContext, any) (any, error) { return nil, nil }

func TestAToolIsListedAsItIs(t *testing.T) {
	s := serving(t, []actors.Definition{
		knownAs("read", messages.JobSpec{Title: "Read", Description: "Reads.", ReadOnly: true, OpenWorld: true,
			Input:  jsonOf(`{"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "integer"}}}`),
			Output: jsonOf(`{"$defs": {"item": {"type": "string"}}, "type": "array", "items": {"$ref": "#/$defs/item"}}`)}),
		knownAs("again", messages.JobSpec{Idempotent: true}), knownAs("job", messages.JobSpec{Destructive: true}),
	}, mcp.JobTool{Job: "read", Name: "reads"}, mcp.JobTool{Job: "again"}, mcp.JobTool{Job: "job"})
	c := dial(t, s, modernHTTP)
	list := toolsOf(t, c)
	named := func(name string) listedTool {
		return list[slices.IndexFunc(list, func(l listedTool) bool { return l.Name == name })]
	}
	hints := func(readOnly, destructive, idempotent, openWorld bool) string {
		raw, _ := json.Marshal(map[string]bool{"readOnlyHint": readOnly, "destructiveHint": destructive,
			"idempotentHint": idempotent, "openWorldHint": openWorld})
		return string(raw)
	}
	for name, want := range map[string]string{
		"reads": hints(true, false, false, true),
		"again": hints(false, false, true, false),
		"job":   hints(false, true, false, false),
	} {
		said := named(name).Annotations
		delete(said, "title")
		if raw, _ := json.Marshal(said); string(raw) != want {
			t.Errorf("%s: the annotations are %s, want %s", name, raw, want)
		}
	}
	reads := named("reads")
	if reads.Title != "Read" || reads.Description != "Reads." ||
		string(reads.InputSchema) != `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}` {
		t.Errorf("listed as %+v, input %s", reads, reads.InputSchema)
	}
	output := string(reads.OutputSchema)
	if !strings.Contains(output, `"result":{"items":{"$ref":"#/$defs/item"},"type":"array"}`) ||
		!strings.Contains(output, `"$defs":{"item":{"type":"string"}}`) {
		t.Errorf("the output schema is %s", output)
	}
	if in := string(named("job").InputSchema); in != `{"type":"object"}` {
		t.Errorf("the input schema of a tool without one is %s", in)
	}
	if once, again := c.do("tools/list", nil), c.do("tools/list", nil); string(once.Result) != string(again.Result) {
		t.Error("the list is not the same twice")
	}
	if !slices.IsSortedFunc(list, func(a, b listedTool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the list has no order")
	}
}

// run_start names the jobs that there are, in one order.
func TestStartNamesTheJobs(t *testing.T) {
	s, _ := taskDoor(t)
	c := dial(t, s, modernStdio)
	for range 5 {
		list := string(c.do("tools/list", nil).Result)
		if !strings.Contains(list, `"job":{"type":"string","enum":["always","confirm","fails","greet","never","panics","two","waits"]`) {
			t.Fatalf("the jobs are not named: %s", list)
		}
	}
}

// knownAs is a job with the description that is said.
func knownAs(name string, about messages.JobSpec) actors.Definition {
	d := actors.Func(name, nothing)
	d.JobSpec = about
	return d
}

func jsonOf(schema string) messages.JSONSchema {
	return func() json.RawMessage { return json.RawMessage(schema) }
}

func TestAddJobRefuses(t *testing.T) {
	bad := map[string]messages.JobSpec{
		"no JSON":                {Input: jsonOf(`{`)},
		"no schema":              {Input: jsonOf(`{"type":7}`)},
		"no object":              {Input: jsonOf(`{"type":"string"}`)},
		"a dangling ref":         {Input: jsonOf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}`)},
		"a bad output":           {Output: jsonOf(`{"type":7}`)},
		"a dangling output":      {Output: jsonOf(`{"$ref":"#/$defs/b"}`)},
		"a property true":        {Input: jsonOf(`{"type":"object","properties":{"a":true}}`)},
		"an output true":         {Output: jsonOf(`true`)},
		"a header that is none":  {Input: jsonOf(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`)},
		"a default that is none": {Input: jsonOf(`{"type":"object","properties":{"a":{"type":"string","default":1}}}`)},
	}
	jobs := []actors.Definition{knownAs("x", messages.JobSpec{})}
	for name, about := range bad {
		jobs = append(jobs, knownAs(name, about))
	}
	refs := map[string]string{"": "#/$defs/b", "https://example.com/o": "https://example.com/o#/$defs/b"}
	for id, ref := range refs {
		jobs = append(jobs, knownAs("defs-"+id[:min(5, len(id))],
			messages.JobSpec{Output: jsonOf(`{"$id":"` + id + `","$defs":{"b":{"type":"integer"}},"$ref":"` + ref + `"}`)}))
	}
	s := serving(t, jobs, mcp.JobTool{Job: "x", Name: "taken"})
	tools := map[string]mcp.JobTool{
		"no job":          {Name: "x"},
		"an empty name":   {},
		"an unknown job":  {Job: "unknown"},
		"a bad character": {Job: "x", Name: "a/b"},
		"a long name":     {Job: "x", Name: strings.Repeat("a", 129)},
		"a taken name":    {Job: "x", Name: "taken"},
	}
	for name := range bad {
		tools[name] = mcp.JobTool{Job: name, Name: "bad"}
	}
	for name, tool := range tools {
		if err := s.AddJob(tool); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.AddJob(mcp.JobTool{Job: "x", Name: strings.Repeat("a.B_9-", 21)}); err != nil {
		t.Errorf("a good name: %v", err)
	}
	for id := range refs {
		if err := s.AddJob(mcp.JobTool{Job: "defs-" + id[:min(5, len(id))]}); err != nil {
			t.Errorf("an output with definitions and the id %q: %v", id, err)
		}
	}
}

// What is refused is not listed: one schema that is no JSON would cost clients the whole list.
func TestAddToolRefuses(t *testing.T) {
	s := serving(t, []actors.Definition{actors.Func("taken", nothing)}, mcp.JobTool{Job: "taken"})
	listed := func() string { return string(dial(t, s, modernStdio).do("tools/list", nil).Result) }
	before := listed()
	tool := func(t mcp.Tool) error {
		return mcp.AddTool(s, t, func(context.Context, struct{}) (*mcp.Result, error) { return nil, nil })
	}
	for name, err := range map[string]error{
		"no name":          tool(mcp.Tool{}),
		"a bad character":  tool(mcp.Tool{Name: "a b"}),
		"a job's name":     tool(mcp.Tool{Name: "taken"}),
		"one of ours":      tool(mcp.Tool{Name: "run_get"}),
		"no JSON":          tool(mcp.Tool{Name: "x", Input: json.RawMessage(`{"type":"object"`)}),
		"more than JSON":   tool(mcp.Tool{Name: "x", Input: json.RawMessage(`{"type":"object"}}`)}),
		"no object":        tool(mcp.Tool{Name: "x", Input: json.RawMessage(`{"type":"string"}`)}),
		"a property true":  tool(mcp.Tool{Name: "x", Input: json.RawMessage(`{"type":"object","properties":{"a":true}}`)}),
		"output no JSON":   tool(mcp.Tool{Name: "x", Output: json.RawMessage(`{`)}),
		"output no object": tool(mcp.Tool{Name: "x", Output: json.RawMessage(`{"type":"array"}`)}),
		"a bad template": s.AddResource(mcp.Resource{Template: "x://{", Name: "x"},
			func(context.Context, string) (mcp.Contents, error) { return mcp.Contents{}, nil }),
	} {
		if messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := listed(); after != before || !strings.Contains(before, `"ttlMs":300000`) {
		t.Errorf("what was refused is listed, or the list does not hold for 5 minutes: %s", after)
	}
	if err := tool(mcp.Tool{Name: "x"}); err != nil || !strings.Contains(listed(), `"inputSchema":{"type":"object"}`) {
		t.Errorf("a tool of any arguments: %v", err)
	}
}
