package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

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
		"no job": {Name: "x"}, "an empty name": {}, "an unknown job": {Job: "unknown"},
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
		"no name": tool(mcp.Tool{}), "a bad character": tool(mcp.Tool{Name: "a b"}),
		"a job's name": tool(mcp.Tool{Name: "taken"}), "one of ours": tool(mcp.Tool{Name: "run_get"}),
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

// Hosts that show pages get the run card, and no others hear of it. It tells where a person answers what an agent may not.
func TestRunCard(t *testing.T) {
	const mime = "text/html;profile=mcp-app"
	asks := actors.Func("asks", func(ctx context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
		go func() {
			_, _ = t.Ask(ctx, messages.InputRequired{Request: "sure", InputKind: messages.InputConfirmation, Prompt: "Really?"})
		}()
		_, err := t.Ask(ctx, messages.InputRequired{Request: "name", Prompt: "Who?"})
		return "", err
	})
	inEachEra(t, func(t *testing.T, how era) {
		s, _ := doorTo(t, mcp.Config{Wrap: &mcp.Wrap{Behind: noServers{}, Alone: true}}, nil)
		c := dialAs(t, s, how, as{principal: "ann", capabilities: map[string]any{"extensions": map[string]any{
			"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{mime}}}}})
		list := string(c.do("tools/list", nil).result(t)) + string(c.do("resources/list", nil).result(t))
		if n := strings.Count(list, "ui://lastword/run"); n != 2 {
			t.Errorf("a server that offers other servers' tools alone has the card %d times: %s", n, list)
		}
		s, _ = doorTo(t, mcp.Config{People: func() string { return "http://localhost:1" }}, []actors.Definition{asks}, mcp.JobTool{Job: "asks"})
		for _, shows := range []bool{true, false} {
			types := map[bool][]string{true: {mime}, false: {"text/plain"}}[shows]
			c := dialAs(t, s, how, as{principal: "ann", capabilities: map[string]any{"extensions": map[string]any{
				"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": types}}}})
			list := string(c.do("tools/list", nil).result(t))
			if n := strings.Count(list, `"_meta":{"ui":{"resourceUri":"ui://lastword/run"}}`); n != map[bool]int{true: 3}[shows] {
				t.Errorf("%t: %d tools have the card: %s", shows, n, list)
			}
			all := string(c.do("resources/list", nil).result(t)) + string(c.do("resources/templates/list", nil).result(t))
			if n := strings.Count(all, "ui://"); n != map[bool]int{true: 1}[shows] {
				t.Errorf("%t: the resources are %s", shows, all)
			}
		}
		c = dialAs(t, s, how, as{principal: "ann"})
		card := read[struct {
			Contents []struct{ Text, MIMEType string }
		}](t, c.do("resources/read", map[string]any{"uri": "ui://lastword/run"}).result(t)).Contents[0]
		if card.MIMEType != mime || len(card.Text) > 20_000 || strings.Contains(card.Text, "//") && strings.Contains(card.Text, "http") ||
			!strings.Contains(card.Text, "ui/initialize") {
			t.Errorf("the card is %s of %d bytes: %s", card.MIMEType, len(card.Text), card.Text)
		}
		type answer struct{ StructuredContent mcp.RunResult }
		run := read[answer](t, c.callTool("run_start", map[string]any{"job": "asks", "input": map[string]any{}}, nil).response().result(t)).StructuredContent
		for len(run.Questions) < 2 {
			run = read[answer](t, c.callTool("run_wait", map[string]any{"run_id": run.RunID, "wait_ms": 0}, nil).response().result(t)).StructuredContent
		}
		for _, q := range run.Questions {
			if person := q.Request == "sure"; q.AsksPerson != person || (q.Page == "http://localhost:1/runs/"+string(run.RunID)) != person {
				t.Errorf("%+v", q)
			}
		}
		c.callTool("run_cancel", map[string]any{"run_id": run.RunID}, nil).response().result(t)
	})
}

// noServers is no server behind.
type noServers struct{ mcp.Behind }

func (noServers) Servers() []string { return nil }

func (noServers) Lists(context.Context, mcp.Caller, string, time.Duration, int) []*mcp.List {
	return nil
}

// twins are two servers with one tool each of the same name, of which the second may be late.
type twins struct {
	mcp.Behind
	late *bool
}

func (twins) Servers() []string { return []string{"a", "b"} }

func (w twins) Lists(context.Context, mcp.Caller, string, time.Duration, int) []*mcp.List {
	echo := &mcp.List{Names: []string{"echo"}, Entries: []json.RawMessage{json.RawMessage(`{"name":"echo","inputSchema":{"type":"object"}}`)}}
	if *w.late {
		return []*mcp.List{echo, nil}
	}
	return []*mcp.List{echo, echo}
}

// Of several servers only names that collide get the server's, and no name changes when another server comes or leaves.
func TestNamesOfServers(t *testing.T) {
	for _, late := range []bool{true, false} {
		slow := late
		server, _ := doorTo(t, mcp.Config{Wrap: &mcp.Wrap{Behind: twins{late: &slow}, Alone: true}}, nil)
		c := dial(t, server, modernHTTP)
		want := map[bool][]string{true: {"echo"}, false: {"a__echo", "b__echo"}}[late]
		for range 2 {
			if got := string(c.do("tools/list", nil).Result); slices.ContainsFunc(want, func(name string) bool { return strings.Count(got, `"name":"`+name+`"`) != 1 }) {
				t.Errorf("the names are not %v in %s", want, got)
			}
			slow, want = !slow, map[bool][]string{true: {"echo", "b__echo"}, false: {"a__echo"}}[late]
		}
	}
}

// Clients of both eras get the skills of the server, with all files, which they can check. SEP-2640 has the form.
func TestSkills(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		c := dial(t, serving(t, nil), how)
		type skill struct {
			URI         string
			Frontmatter struct{ Name, Description string }
			Resources   []struct {
				URI, Digest string
				Size        int
			}
		}
		list := read[struct {
			Skills []skill
			TTLMs  *int
		}](t, c.do("skills/list", nil).result(t))
		if len(list.Skills) != 2 || (list.TTLMs != nil) != how.modern {
			t.Errorf("%+v", list)
		}
		for _, s := range list.Skills {
			if s.URI != "skill://"+s.Frontmatter.Name+"/SKILL.md" || s.Frontmatter.Description == "" || len(s.Resources) != 1 {
				t.Errorf("%+v", s)
			}
			got := read[struct{ Skill skill }](t, c.do("skills/get", map[string]any{"uri": s.URI}).result(t)).Skill
			if got.URI != s.URI || got.Resources[0] != s.Resources[0] {
				t.Errorf("%+v", got)
			}
			file := read[struct {
				Contents []struct{ Text, MIMEType string }
			}](t, c.do("resources/read", map[string]any{"uri": s.URI}).result(t)).Contents[0]
			if f := s.Resources[0]; f.Digest != "sha256:"+messages.Digest(file.Text) || f.Size != len(file.Text) || file.MIMEType != "text/markdown" {
				t.Errorf("%+v is not of %q", f, file.Text)
			}
		}
		if code := c.do("skills/get", map[string]any{"uri": "skill://other/SKILL.md"}).code(t); code != -32602 {
			t.Errorf("an unknown skill: %d", code)
		}
		for _, uri := range []string{"skill://", "skill://lastword", "skill://../skills.go"} {
			if m := c.do("resources/read", map[string]any{"uri": uri}); m.Error == nil {
				t.Errorf("%s is read: %s", uri, m.Result)
			}
		}
		if how.modern {
			found := c.do("server/discover", nil)
			if text, _ := json.Marshal(found); !strings.Contains(string(text), `"io.modelcontextprotocol/skills":{}`) {
				t.Errorf("it is not declared: %s", text)
			}
		}
	})
}
