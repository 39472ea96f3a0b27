package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// legacyTask is a task as clients of 2025-11-25 read it.
type legacyTask struct {
	ID     messages.RunID `json:"taskId"`
	Status string         `json:"status"`
	TTL    int64          `json:"ttl"`
	Poll   int64          `json:"pollInterval"`
}

// legacyBegin calls the tool as a task.
func legacyBegin(t *testing.T, c *client, tool string, arguments any) legacyTask {
	t.Helper()
	m := c.do("tools/call", map[string]any{"name": tool, "arguments": arguments, "task": map[string]any{"ttl": 1000}})
	if got := keysOf(t, m.result(t)); got != "task" {
		t.Fatalf("the result has %s: %s", got, m.Result)
	}
	return read[struct {
		Task legacyTask `json:"task"`
	}](t, m.Result).Task
}

func about(id messages.RunID) map[string]any { return map[string]any{"taskId": string(id)} }

// Issue 5: "task: {ttl} for the eras that know it". The tasks of 2025-11-25: made by the client's wish, asked for,
// waited for, listed and cancelled.
func TestLegacyTasks(t *testing.T) {
	inLegacy(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{principal: "ann"})
		waiting := legacyBegin(t, c, "waits", map[string]any{})
		if waiting.Status != "working" || waiting.TTL != 3600_000 || waiting.Poll != 50 || waiting.ID == "" {
			t.Errorf("%+v", waiting)
		}
		greeted := legacyBegin(t, c, "greet", map[string]any{"name": "Ann"})
		m := c.do("tasks/result", about(greeted.ID))
		if r := m.toolResult(t); string(r.Structured.Result) != `"Hello, Ann!"` ||
			!strings.Contains(string(m.Result), `"io.modelcontextprotocol/related-task":{"taskId":"`+string(greeted.ID)+`"}`) {
			t.Errorf("tasks/result answers %s", m.Result)
		}
		if got := read[legacyTask](t, c.do("tasks/get", about(greeted.ID)).result(t)); got.Status != "completed" {
			t.Errorf("tasks/get answers %+v", got)
		}
		list := read[struct {
			Tasks []legacyTask `json:"tasks"`
		}](t, c.do("tasks/list", nil).result(t)).Tasks
		if len(list) != 2 || list[0].ID != greeted.ID || list[1].ID != waiting.ID {
			t.Errorf("tasks/list answers %+v", list)
		}
		if got := read[legacyTask](t, c.do("tasks/cancel", about(waiting.ID)).result(t)); got.Status != "cancelled" {
			t.Errorf("tasks/cancel answers %+v", got)
		}
		if code := c.do("tasks/cancel", about(waiting.ID)).code(t); code != -32602 {
			t.Errorf("tasks/cancel of an ended task: %d", code)
		}
		if r := c.do("tasks/result", about(waiting.ID)).toolResult(t); !r.IsError || r.Structured.Status != messages.Canceled {
			t.Errorf("tasks/result of a cancelled task: %+v", r)
		}
		if code := c.do("tasks/update", about(waiting.ID)).code(t); code != -32601 {
			t.Errorf("tasks/update: %d", code)
		}
	})
}

// tasks/result answers what the call would have: a crash is a JSON-RPC error, an error of the work a result.
func TestLegacyTaskResultIsTheCalls(t *testing.T) {
	s, _ := taskDoor(t)
	c := dialAs(t, s, legacyHTTP, as{})
	crashed := legacyBegin(t, c, "panics", map[string]any{})
	m := c.do("tasks/result", about(crashed.ID))
	if m.code(t) != -32603 || !strings.Contains(string(m.Error.Data), `"cause":"panic"`) {
		t.Errorf("%+v", m.Error)
	}
	failed := legacyBegin(t, c, "fails", map[string]any{})
	if r := c.do("tasks/result", about(failed.ID)).toolResult(t); !r.IsError {
		t.Errorf("%+v", r)
	}
}

// A list of many comes in pages, whole and without repeats.
func TestLegacyTaskListHasPages(t *testing.T) {
	s, system := taskDoor(t)
	c := dialAs(t, s, legacyHTTP, as{principal: "ann"})
	var want []messages.RunID
	for range 1040 { // more than one query may have
		id, err := system.Submit(t.Context(),
			messages.Request{Job: "greet", Principal: "ann", Input: json.RawMessage(`{"name":"x"}`)})
		must(t, err)
		want = append(want, id)
		over(t, system, id)
	}
	var got []messages.RunID
	params := map[string]any{}
	for pages := 0; ; pages++ {
		page := read[struct {
			Tasks []legacyTask `json:"tasks"`
			Next  string       `json:"nextCursor"`
		}](t, c.do("tasks/list", params).result(t))
		for _, task := range page.Tasks {
			got = append(got, task.ID)
		}
		if page.Next == "" || pages > 40 {
			break
		}
		if len(page.Tasks) != 50 {
			t.Errorf("page %d has %d tasks", pages, len(page.Tasks))
		}
		params["cursor"] = page.Next
	}
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d tasks of %d are listed", len(got), len(want))
	}
	for _, cursor := range []string{"nonsense", "nonsense.r_x", "1", "99999999999999999999.r_x"} {
		if code := c.do("tasks/list", map[string]any{"cursor": cursor}).code(t); code != -32602 {
			t.Errorf("the cursor %s, which is none: %d", cursor, code)
		}
	}
	if tasks := string(c.do("tasks/list", map[string]any{"cursor": "MTk3MC0wMS0wMVQwMDowMDowMVogcl9mb3Jnb3R0ZW4"}).result(t)); tasks != `{"tasks":[]}` {
		t.Errorf("past the first that there was, 1970 and r_forgotten: %s", tasks)
	}
}

// Each era sees its own tasks alone, in what the server says of itself and of its tools.
func TestWhoSeesWhichTasks(t *testing.T) {
	s, _ := taskDoor(t)
	type capable struct {
		Version      string `json:"protocolVersion"`
		Capabilities struct {
			Tasks      json.RawMessage            `json:"tasks"`
			Extensions map[string]json.RawMessage `json:"extensions"`
		} `json:"capabilities"`
	}
	for version, want := range map[string]string{
		"2025-11-25": `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`, "2025-06-18": "", "2025-03-26": ""} {
		c := dialAs(t, s, legacyStdio, as{})
		hello := read[capable](t, c.do("initialize", map[string]any{"protocolVersion": version, "capabilities": plain,
			"clientInfo": map[string]any{"name": "test", "version": "1"}}).result(t))
		if hello.Version != version || string(hello.Capabilities.Tasks) != want {
			t.Errorf("%s: version %s has tasks %s", version, hello.Version, hello.Capabilities.Tasks)
		}
	}
	modern := dialAs(t, s, modernHTTP, as{capabilities: tasks})
	if d := read[capable](t, modern.do("server/discover", nil).result(t)); d.Capabilities.Tasks != nil ||
		d.Capabilities.Extensions[tasksExtension] == nil {
		t.Errorf("discover: %+v", d)
	}
	type tools struct {
		Tools []struct {
			Name      string          `json:"name"`
			Execution json.RawMessage `json:"execution"`
		} `json:"tools"`
	}
	supports := map[string]string{"always": `{"taskSupport":"required"}`}
	for _, job := range testJobs() {
		supports[job.Name] = `{"taskSupport":"optional"}`
	}
	for _, tool := range read[tools](t, dialAs(t, s, legacyHTTP, as{}).do("tools/list", nil).result(t)).Tools {
		if string(tool.Execution) != supports[tool.Name] {
			t.Errorf("%s: %s", tool.Name, tool.Execution)
		}
	}
	for _, tool := range read[tools](t, modern.do("tools/list", nil).result(t)).Tools {
		if tool.Execution != nil {
			t.Errorf("%s: %s for 2026-07-28", tool.Name, tool.Execution)
		}
	}
}

// A tool that must, or must not, be a task says so to clients that know tasks, and to those that do not.
func TestLegacyTaskSupport(t *testing.T) {
	s, _ := taskDoor(t)
	c, ann := dialAs(t, s, legacyHTTP, as{}), map[string]any{"name": "Ann"}
	if code := c.callTool("always", ann, nil).response().code(t); code != -32601 {
		t.Errorf("always, not as a task: %d", code)
	}
	m := c.start("tools/call", map[string]any{"name": "never", "arguments": ann, "task": map[string]any{}}).response()
	if m.code(t) != -32601 {
		t.Errorf("never, as a task: %+v", m)
	}
	// A client that asked for a task reads a JSON-RPC error and no tool's result.
	m = c.start("tools/call", map[string]any{"name": "always", "arguments": map[string]any{"name": 5},
		"task": map[string]any{}}).response()
	if m.code(t) != -32602 || !strings.Contains(m.Error.Message, "name") ||
		string(m.Error.Data) != `{"code":"invalid_input"}` {
		t.Errorf("a task with bad arguments: %+v", m)
	}
	if r := c.callTool("never", ann, nil).response().toolResult(t); string(r.Structured.Result) != `"Hello, Ann!"` {
		t.Errorf("%+v", r)
	}
	legacyBegin(t, c, "always", ann)
}

// Clients of versions before tasks have no methods for them, and make none.
func TestClientsBeforeTasksHaveNone(t *testing.T) {
	s, _ := taskDoor(t)
	c := &client{t: t, how: legacyStdio, inbox: make(chan message, 16), open: map[string]*exchange{}}
	c.dialStdio(s)
	said := c.do("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "old", "version": "1"}}).result(t)
	if !strings.Contains(string(said), "2025-06-18") || strings.Contains(string(said), `"tasks"`) {
		t.Errorf("the server says %s", said)
	}
	c.tell("notifications/initialized", nil)
	id := c.call("run_start", map[string]any{"job": "waits"}).Structured.RunID
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result", "tasks/list"} {
		if code := c.do(method, about(id)).code(t); code != protocol.METHOD_NOT_FOUND {
			t.Errorf("%s: %d", method, code)
		}
	}
	r := c.do("tools/call", map[string]any{"name": "greet", "arguments": map[string]any{"name": "x"},
		"task": map[string]any{}}).toolResult(t)
	if string(r.Structured.Result) != `"Hello, x!"` {
		t.Errorf("the call's result is %+v", r)
	}
}
