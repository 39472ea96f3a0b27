package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

func TestTheResultSaysWhatTheRunCameTo(t *testing.T) {
	s := serving(t, []actors.Definition{scripted(busy())}, mcp.JobTool{Job: "script"})
	r := dial(t, s, modernHTTP).callTool("script", nil, nil).response().toolResult(t)
	if len(r.Content) != 2 || r.Content[0].Text != strings.Repeat("word ", 200) {
		t.Fatalf("the content is %+v", r.Content)
	}
	link, a := r.Content[1], r.Structured.Artifacts
	if link.Type != "resource_link" || link.Name != "notes/a b.md" || link.Mime != "text/markdown" || link.Size != 3 {
		t.Errorf("the link is %+v", link)
	}
	if len(a) != 1 || a[0] != (mcp.RunArtifact{Name: link.Name, Bytes: 3}) {
		t.Errorf("the artifacts are %+v", a)
	}
	if !strings.HasPrefix(link.URI, "run://"+string(r.Structured.RunID)+"/artifacts/notes/a%20b.md") {
		t.Errorf("the link leads to %s", link.URI)
	}
}

// A run may write thousands of files, and a model has to read its result: it lists those in no folder, at most eight,
// and says how many more there are.
func TestAResultListsSomeArtifacts(t *testing.T) {
	for names, want := range map[string]string{
		"pages/1 index.md pages/2": "index.md +2", "pages/1 pages/2": "pages/1 pages/2 +0",
		"1 2 3 4 5 6 7 8 9 10": "1 2 3 4 5 6 7 8 +2",
	} {
		script := faultplan.Script{}
		for name := range strings.FieldsSeq(names) {
			script.Write = append(script.Write, faultplan.Step{Do: faultplan.Emit, Body: messages.ArtifactWritten{
				Artifact: messages.Artifact{Name: name, Bytes: 3, SHA256: messages.Digest("abc")}}})
		}
		s := serving(t, []actors.Definition{scripted(script)}, mcp.JobTool{Job: "script"})
		r := dial(t, s, modernHTTP).callTool("script", nil, nil).response().toolResult(t)
		var got []string
		for _, a := range r.Structured.Artifacts {
			got = append(got, a.Name)
		}
		if listed := fmt.Sprintf("%s +%d", strings.Join(got, " "), r.Structured.MoreArtifacts); listed != want {
			t.Errorf("%s: listed are %s, want %s", names, listed, want)
		}
		if len(r.Content) != 1+min(2, len(got)) || !strings.Contains(r.Content[0].Text, got[0]+" (3 bytes)") ||
			!strings.Contains(r.Content[0].Text, "run_read") || !strings.Contains(r.Structured.Message, "run_read") {
			t.Errorf("%s: %+v, %q", names, r.Content, r.Structured.Message)
		}
	}
}

func TestTextLeavesMarkupAsItIs(t *testing.T) {
	text, err := mcp.Text(map[string]string{"a": "<b>&\n"})
	if err != nil || text != `{"a":"<b>&\n"}` {
		t.Errorf("%s, %v", text, err)
	}
	r, err := mcp.Structured(map[string]string{"a": "<b>"})
	if err != nil || r.Text != `{"a":"<b>"}` {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTheResultIsJSONWhereTheRunSaidNothing(t *testing.T) {
	type terms struct{ A, B int }
	job := actors.Func("add", func(_ context.Context, _ *actors.TaskContext, in terms) (map[string]int, error) {
		return map[string]int{"sum": in.A + in.B}, nil
	})
	c := dial(t, serving(t, []actors.Definition{job}, mcp.JobTool{Job: "add"}), legacyHTTP)
	r := c.callTool("add", map[string]any{"A": 1, "B": 2}, nil).response().toolResult(t)
	if len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, "completed") ||
		!strings.HasSuffix(r.Content[0].Text, "\n"+`{"sum":3}`) {
		t.Errorf("the content is %+v", r.Content)
	}
}

// A tool's own words are for the end: until then the words are ours, and say what to do.
func TestTheToolsOwnWordsAreForTheEnd(t *testing.T) {
	jobs := testJobs()
	confirm := slices.IndexFunc(jobs, func(d actors.Definition) bool { return d.Name == "confirm" })
	jobs[confirm].Summary = func(ended messages.State) string { return "in my words: " + string(ended.End.Result) }
	s, _ := doorTo(t, mcp.Config{}, jobs, mcp.JobTool{Job: "confirm"})
	c := dial(t, s, modernHTTP)
	r := c.call("confirm", map[string]any{})
	if len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, "run_answer") {
		t.Errorf("the content is %+v", r.Content)
	}
	c.call("run_answer", of(r.Structured.RunID, "request", "sure", "value", true))
	if r = c.call("run_wait", of(r.Structured.RunID)); r.Content[0].Text != `in my words: "answered true"` {
		t.Errorf("the content is %+v", r.Content)
	}
}

func TestFailureTellsWhatTheCallerMayKnow(t *testing.T) {
	for name, test := range map[string]struct {
		err        error
		code, says string
	}{
		"ours":   {messages.Errorf("not_found", "there is no run r_x"), "not_found", "there is no run r_x"},
		"within": {fmt.Errorf("/var/lib/secret: %w", messages.Errorf("not_found", "no run")), "not_found", "no run"},
		"others": {errors.New("open /var/lib/secret: denied"), "error", "its log says why"},
		"late":   {context.DeadlineExceeded, "deadline", "too long"},
	} {
		r := mcp.Failure(test.err)
		if !r.IsError || r.Failed == nil || string(r.Failed.Code) != test.code || r.Text != r.Failed.Message ||
			!strings.Contains(r.Text, test.says) || r.Structured != nil { // which would have to fit the tool's schema
			t.Errorf("%s: %+v", name, r)
		}
		if strings.Contains(r.Text, "secret") {
			t.Errorf("%s: tells what is not the caller's: %s", name, r.Text)
		}
	}
}

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
		schemas, seen := c.schemas(), map[string]bool{}
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
