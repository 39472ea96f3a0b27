package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	goclient "github.com/mark3labs/mcp-go/client"
	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/durable"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// kit is a server of mcp-go. Its tool slow says on began that it has begun, and ends when open is closed or its context ends.
type kit struct {
	*server.MCPServer
	began, open chan struct{}
}

func newKit() kit {
	k := kit{server.NewMCPServer("kit", "3", server.WithToolCapabilities(true),
		server.WithMethodCacheHints(protocol.MethodToolsList, 30_000, protocol.CacheScopePublic)), make(chan struct{}, 1), make(chan struct{})}
	k.AddTool(protocol.NewTool("steps", protocol.WithString("what")), func(ctx context.Context, r protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		for i := range 3 {
			err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": r.Params.Meta.ProgressToken, "progress": i, "total": 2, "message": fmt.Sprint("at ", i)})
			if err != nil {
				return nil, err
			}
		}
		return protocol.NewToolResultText("did " + r.GetString("what", "")), nil
	})
	k.AddTool(protocol.NewTool("crash"), func(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		panic("it is broken")
	})
	k.AddTool(protocol.NewTool("refuse"), func(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return nil, errors.New("no such file")
	})
	k.AddTool(protocol.NewTool("slow"), func(ctx context.Context, _ protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		k.began <- struct{}{}
		select {
		case <-k.open:
			return protocol.NewToolResultText("slow is done"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	k.AddTool(protocol.NewTool("ask"), func(ctx context.Context, _ protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		answer, err := server.ServerFromContext(ctx).RequestElicitation(ctx, protocol.ElicitationRequest{Params: protocol.ElicitationParams{
			Message: "Who are you?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}}})
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(answer.Content)
		return protocol.NewToolResultText(string(answer.Action) + " " + string(text)), err
	})
	k.AddTool(protocol.NewTool("wish"), func(ctx context.Context, _ protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		var sample protocol.CreateMessageRequest
		sample.MaxTokens = 7
		//lint:ignore SA1019 servers use it
		said, err := server.ServerFromContext(ctx).RequestSampling(ctx, sample)
		if err != nil {
			return nil, err
		}
		roots, err := server.ServerFromContext(ctx).RequestRoots(ctx, protocol.ListRootsRequest{})
		if err != nil {
			return nil, err
		}
		return protocol.NewToolResultText(said.Model + " " + roots.Roots[0].URI), nil
	})
	return k
}

// says answers each question with a name.
type says string

func (s says) Elicit(context.Context, protocol.ElicitationRequest) (*protocol.ElicitationResult, error) {
	return &protocol.ElicitationResult{ElicitationResponse: protocol.ElicitationResponse{
		Action: protocol.ElicitationResponseActionAccept, Content: map[string]any{"name": string(s)}}}, nil
}

// wrapping is a runtime for calls of tools.
func wrapping(t *testing.T) *actors.System {
	t.Helper()
	system := faultplan.Open(t, actors.Config{Jobs: []actors.Definition{durable.Tools()}})
	return system
}

// connected is a client of the server in this process. What is told to it comes to notes.
func connected(t *testing.T, srv *server.MCPServer) (c *goclient.Client, notes chan string) {
	t.Helper()
	c, err := goclient.NewInProcessClientWithOptions(srv, goclient.WithElicitationHandler(says("mia")))
	must(t, err)
	notes = make(chan string, 10)
	c.OnNotification(func(n protocol.JSONRPCNotification) { notes <- fmt.Sprint(n.Params.AdditionalFields["message"]) })
	must(t, c.Start(t.Context()))
	_, err = c.Initialize(t.Context(), protocol.InitializeRequest{})
	must(t, err)
	return c, notes
}

func called(ctx context.Context, c *goclient.Client, tool string) (string, error) {
	var r protocol.CallToolRequest
	r.Params.Name, r.Params.Arguments, r.Params.Meta = tool, map[string]any{"what": "all"}, &protocol.Meta{ProgressToken: "p"}
	result, err := c.CallTool(ctx, r)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(result.IsError, " ", result.Content[0].(protocol.TextContent).Text), nil
}

// ended waits for the end of the newest run and returns it, with its events.
func ended(t *testing.T, system *actors.System) (state messages.State, events string) {
	t.Helper()
	runs, err := system.List(t.Context(), messages.Query{})
	must(t, err)
	for e, err := range system.Events(t.Context(), runs[0].RunID, 0) {
		must(t, err)
		text, err := json.Marshal(e)
		must(t, err)
		events += string(text) + "\n"
	}
	state, err = system.State(t.Context(), runs[0].RunID)
	must(t, err)
	return state, events
}

// With one line each call of a handler is a run: its log has all, a crash ends it alone, and it goes on when the request ends.
func TestDurable(t *testing.T) {
	system, k := wrapping(t), newKit()
	k.Use(mcp.Durable(system, "kit"))
	c, notes := connected(t, k.MCPServer)
	if text, err := called(t.Context(), c, "steps"); err != nil || text != "false did all" {
		t.Errorf("%q, %v", text, err)
	}
	for i := range 3 {
		if got := <-notes; got != fmt.Sprint("at ", i) {
			t.Errorf("the client hears %q", got)
		}
	}
	state, events := ended(t, system)
	for _, has := range []string{`"arguments":{"what":"all"}`, `"done":2,"total":2`, `"at 2"`, `"text":"did all"`, `"shown":{`, `"mcp.tool":"kit/steps"`} {
		if !strings.Contains(events, has) || state.Status != messages.Completed {
			t.Errorf("%s is not in %s", has, events)
		}
	}
	if text, err := called(t.Context(), c, "ask"); err != nil || text != `false accept {"name":"mia"}` {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := called(t.Context(), c, "crash"); err != nil || !strings.HasPrefix(text, "true ") {
		t.Errorf("%q, %v", text, err)
	}
	if state, _ := ended(t, system); state.End.Error.Code != messages.CausePanic {
		t.Errorf("%+v", state.End)
	}
	if _, err := called(t.Context(), c, "refuse"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}

	left, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { _, err := called(left, c, "slow"); gone <- err }()
	<-k.began
	leave()
	if err := <-gone; err == nil {
		t.Error("the call of a client that has left does not end")
	}
	close(k.open)
	if state, _ := ended(t, system); state.Status != messages.Completed || !strings.Contains(string(state.End.Result), "slow is done") {
		t.Errorf("%+v", state.End)
	}
}

// Anyone who cancels a run ends the context of its handler. A run whose call is of another process has no handler.
func TestDurableEnds(t *testing.T) {
	system, k := wrapping(t), newKit()
	k.Use(mcp.Durable(system, "kit"))
	c, _ := connected(t, k.MCPServer)
	done := make(chan string, 1)
	go func() { text, err := called(t.Context(), c, "slow"); done <- fmt.Sprint(text, err) }()
	<-k.began
	runs, err := system.List(t.Context(), messages.Query{})
	must(t, errors.Join(err, system.Cancel(t.Context(), runs[0].RunID, "", "enough")))
	if got := <-done; !strings.Contains(got, "cancel") {
		t.Errorf("the call answers %s", got)
	}
	_, err = system.Submit(t.Context(), messages.Request{Job: "tool", Input: json.RawMessage(`{"server":"kit","tool":"slow","here":"other"}`)})
	must(t, err)
	if state, _ := ended(t, system); state.Status != messages.Failed || !strings.Contains(state.End.Error.Message, "before it made the call") {
		t.Errorf("%+v", state.End)
	}

	other := faultplan.Open(t, actors.Config{})
	k = newKit()
	k.Use(mcp.Durable(other, "kit"))
	c, _ = connected(t, k.MCPServer)
	if _, err := called(t.Context(), c, "steps"); err == nil || !strings.Contains(err.Error(), "durable.Tools()") {
		t.Errorf("without the job: %v", err)
	}
}

// The door has the server's tools, as tasks for clients of both eras, and its questions.
func TestServe(t *testing.T) {
	for _, how := range []era{legacyStdio, modernStdio} {
		t.Run(how.String(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testServe(t, how) }) })
	}
}

func testServe(t *testing.T, how era) {
	k := newKit()
	s := mcp.Serve(k.MCPServer, wrapping(t))
	t.Cleanup(s.Close)
	c := dialAs(t, s, how, as{capabilities: both})
	var list struct {
		Tools []struct{ Name string }
		TTLMs int
	}
	must(t, json.Unmarshal(c.do("tools/list", map[string]any{}).Result, &list))
	if how.modern && list.TTLMs != 30_000 {
		t.Errorf("the list holds for %d ms", list.TTLMs)
	}
	if got := fmt.Sprint(list.Tools); got != "[{ask} {crash} {refuse} {slow} {steps} {wish} {run_wait} {run_answer} {run_cancel}]" {
		t.Errorf("the tools are %s", got)
	}
	var heard []string
	for _, m := range c.callTool("steps", map[string]any{"what": "all"}, "p").until() {
		if m.Method != "" {
			p := m.progress(t)
			heard = append(heard, fmt.Sprint(p.Message, " ", p.Progress))
		} else if r := m.toolResult(t); r.Content[0].Text != "did all" {
			t.Errorf("%+v", r)
		}
	}
	if len(heard) == 0 || heard[len(heard)-1] != "at 2 2" { // what comes at once is merged
		t.Errorf("the progress is %s", heard)
	}
	if r := c.callTool("crash", map[string]any{}, nil).response().toolResult(t); !r.IsError || !strings.Contains(r.Content[0].Text, "it is broken") {
		t.Errorf("%+v", r)
	}
	x := c.start("tools/call", map[string]any{"name": "slow", "task": map[string]any{"ttl": 60000}})
	<-k.began
	var created struct {
		TaskID string
		Task   struct{ TaskID string }
	}
	must(t, json.Unmarshal(x.response().Result, &created))
	close(k.open)
	method, id := "tasks/result", created.Task.TaskID
	if how.modern {
		synctest.Wait()
		method, id = "tasks/get", created.TaskID
	}
	if m := c.do(method, map[string]any{"taskId": id}); !strings.Contains(string(m.Result), "slow is done") {
		t.Errorf("%s: %s %+v", method, m.Result, m.Error)
	}
	x = c.callTool("ask", map[string]any{}, nil)
	if !how.modern {
		q := <-c.inbox
		for q.Method != "elicitation/create" {
			q = <-c.inbox
		}
		c.respond(q.ID, map[string]any{"action": "accept", "content": map[string]any{"name": "mia"}})
		if r := x.response().toolResult(t); r.Content[0].Text != `accept {"name":"mia"}` {
			t.Errorf("%+v", r)
		}
	} else if m := x.response(); !strings.Contains(string(m.Result), "input_required") {
		t.Errorf("%s", m.Result)
	}
}

// A client without a session gets a server's requests for a message of its model and for its roots in results, as it gets
// questions, also as a task. A client that does not declare them gets none.
func TestServeWishes(t *testing.T) {
	answers := map[string]any{"sampling/createMessage": map[string]any{"model": "m", "role": "assistant", "content": map[string]any{"type": "text", "text": "hi"}},
		"roots/list": map[string]any{"roots": []any{map[string]any{"uri": "file:///srv"}}}}
	answer := func(t *testing.T, text json.RawMessage, method string) (state string, responses map[string]any) {
		var asks struct {
			RequestState  string
			InputRequests map[string]struct {
				Method string
				Params struct{ MaxTokens int }
			}
		}
		must(t, json.Unmarshal(text, &asks))
		responses = map[string]any{}
		for name, r := range asks.InputRequests {
			if responses[name] = answers[method]; r.Method != method || r.Params.MaxTokens != map[string]int{"sampling/createMessage": 7}[method] {
				t.Errorf("asks %+v, not for %s", r, method)
			}
		}
		if len(responses) != 1 {
			t.Fatalf("%s is not asked for: %s", method, text)
		}
		return asks.RequestState, responses
	}
	synctest.Test(t, func(t *testing.T) {
		s := mcp.Serve(newKit().MCPServer, wrapping(t))
		t.Cleanup(s.Close)
		able := map[string]any{"sampling": map[string]any{}, "roots": map[string]any{}}
		c := dialAs(t, s, modernStdio, as{principal: "ann", capabilities: able})
		m := c.callTool("wish", map[string]any{}, nil).response()
		for _, method := range []string{"sampling/createMessage", "roots/list"} {
			state, responses := answer(t, m.Result, method)
			m = c.again("wish", map[string]any{}, state, responses, nil).response()
		}
		if r := m.toolResult(t); r.Content[0].Text != "m file:///srv" {
			t.Errorf("%s", m.Result)
		}

		able["extensions"] = both["extensions"]
		c = dialAs(t, s, modernStdio, as{principal: "ann", capabilities: able})
		var task struct{ TaskID string }
		must(t, json.Unmarshal(c.callTool("wish", map[string]any{}, nil).response().result(t), &task))
		for _, method := range []string{"sampling/createMessage", "roots/list"} {
			synctest.Wait()
			_, responses := answer(t, c.do("tasks/get", map[string]any{"taskId": task.TaskID}).result(t), method)
			c.do("tasks/update", map[string]any{"taskId": task.TaskID, "inputResponses": responses}).result(t)
		}
		synctest.Wait()
		if text := c.do("tasks/get", map[string]any{"taskId": task.TaskID}).result(t); !strings.Contains(string(text), "m file:///srv") {
			t.Errorf("%s", text)
		}
		c = dialAs(t, s, modernStdio, as{principal: "ann"})
		if m := c.callTool("wish", map[string]any{}, nil).response(); m.Error == nil || !strings.Contains(m.Error.Message, "sampling") {
			t.Errorf("%s %+v", m.Result, m.Error)
		}
	})
}
