package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

var readOnly = []auth.Scope{auth.ReadRuns}

// Anyone who may only read answers no question of a run, by no way: a signed state of the same principal's other token
// is no leave to write.
func TestAReaderDoesNotAnswerByAState(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, system := taskDoor(t)
		writer := dialAs(t, s, how, as{principal: "ann", capabilities: asks})
		reader := dialAs(t, s, how, as{principal: "ann", capabilities: asks, scopes: readOnly})
		r := asked(t, writer.callTool("confirm", map[string]any{}, nil).response(), "sure")
		for name, response := range map[string]any{
			"answers": accepted(map[string]any{"value": true}), "declines": map[string]any{"action": "decline"},
		} {
			got := reader.again("confirm", map[string]any{}, r.RequestState, map[string]any{"sure": response}, nil).
				response()
			if got.Error == nil || string(got.Error.Data) != `{"code":"forbidden"}` {
				t.Errorf("who %s is told %+v", name, got)
			}
		}
		state := onlyRun(t, system, "ann")
		if state.Canceling || len(state.Inputs) != 1 || state.Inputs[0].Closed {
			t.Errorf("the run is %+v", state)
		}
	})
}

func onlyRun(t *testing.T, system *actors.System, principal string) messages.State {
	t.Helper()
	runs, err := system.List(t.Context(), messages.Query{Principal: principal})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	state, err := system.State(t.Context(), runs[0].RunID)
	must(t, err)
	return state
}

// tasks/result is for readers too; but it asks only the users of those who may answer.
func TestAReaderIsNotAskedByATask(t *testing.T) {
	s, _ := taskDoor(t)
	writer := dialAs(t, s, legacyHTTP, as{principal: "ann"})
	reader := dialAs(t, s, legacyHTTP, as{principal: "ann", capabilities: asks, scopes: readOnly})
	task := legacyBegin(t, writer, "confirm", map[string]any{})
	waits := reader.start("tasks/result", about(task.ID))
	r := writer.call("run_wait", of(task.ID))
	if r.Structured.Status != "waiting" {
		t.Fatalf("%+v", r)
	}
	writer.call("run_answer", of(task.ID, "request", "sure", "value", false))
	if r := waits.response().toolResult(t); string(r.Structured.Result) != `"answered false"` {
		t.Errorf("%+v", r)
	}
	select {
	case m := <-reader.inbox:
		t.Errorf("the reader was asked %s %s", m.Method, m.Params)
	default:
	}
}

// What clients name is kept as long as they stay: it is bounded.
func TestWhatClientsMakeGrow(t *testing.T) {
	s, open, _ := working(t, nil)
	open()
	long, old := "x://"+strings.Repeat("x", 8<<10), dial(t, s, legacyHTTP)
	if m := old.do("resources/subscribe", map[string]any{"uri": long}); m.code(t) != -32602 ||
		!strings.Contains(m.Error.Message, "may have 4096") {
		t.Errorf("a long uri: %+v", m.Error)
	}
	labels := map[string]string{"a": strings.Repeat("b", 17<<10)}
	why := old.fails("invalid_input", "run_start", map[string]any{"job": "work", "labels": labels})
	if !strings.Contains(why, "16384") {
		t.Errorf("long labels: %s", why)
	}
	labels["a"] = labels["a"][2<<10:]
	if r := old.call("run_start", map[string]any{"job": "work", "labels": labels}); r.IsError {
		t.Errorf("labels that fit: %+v", r.Meta.Error)
	}
	for name, token := range map[string]any{"object": map[string]any{"a": 1}, "long": strings.Repeat("t", 2<<10)} {
		if all := old.callTool("work", map[string]any{}, token).until(); len(all) != 1 {
			t.Errorf("a token that is %s was repeated %d times", name, len(all)-1)
		}
	}
}

// Many clients write null for an argument that they leave out.
func TestNullIsLeftOut(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"item":{"type":"string"},
		"kind":{"enum":["a","b"]},"free":{},"either":{"type":["string","null"]}}}`)
	job := actors.Func("echo", func(_ context.Context, _ *actors.TaskContext, in any) (any, error) { return in, nil })
	job.Input = func() json.RawMessage { return schema }
	s := serving(t, []actors.Definition{job}, mcp.JobTool{Job: "echo"})
	inEachEra(t, func(t *testing.T, how era) {
		c := dial(t, s, how)
		r := c.call("echo", map[string]any{"item": nil, "kind": nil, "free": nil, "either": nil})
		if string(r.Structured.Result) != `{"either":null,"free":null}` {
			t.Errorf("the job was given %s: %+v", r.Structured.Result, r.Meta.Error)
		}
		if r = c.call("run_list", map[string]any{"job": nil, "status": nil, "limit": nil}); r.IsError {
			t.Errorf("run_list: %+v", r.Meta.Error)
		}
		if r = c.call("run_start", map[string]any{"job": "echo", "input": nil, "labels": nil, "key": nil,
			"detached": nil}); r.IsError {
			t.Errorf("run_start: %+v", r.Meta.Error)
		}
		c.fails("invalid_input", "run_start", map[string]any{"job": nil})
	})
}

// What a call's _meta says of its run holds for tools of jobs and for run_start.
func TestMetadataOfARun(t *testing.T) {
	job := actors.Func("limits", func(ctx context.Context, task *actors.TaskContext, _ struct{}) (bool, error) {
		return task.Budgeted(), nil
	})
	s := serving(t, []actors.Definition{job}, mcp.JobTool{Job: "limits"})
	inEachEra(t, func(t *testing.T, how era) {
		c := dial(t, s, how)
		for tool, arguments := range map[string]any{"limits": struct{}{}, "run_start": map[string]any{"job": "limits"}} {
			for _, m := range []struct {
				name  string
				value any
				wrong string
			}{
				{"lastword.budget", map[string]any{"tokens": 9}, ""}, {"lastword.budget", map[string]any{"coins": 9}, "coins"},
				{"lastword.budget", map[string]any{"tokens": 0}, "not 0"}, {"lastword.budget", map[string]any{"cost": map[string]any{"amount": 0}}, "not 0"},
				{"lastword.busy", "queue", ""}, {"lastword.busy", "later", "later"}, {"lastword.busy", 7, "_meta"},
			} {
				r := c.start("tools/call", map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{m.name: m.value}}).response().toolResult(t)
				if r.IsError == (m.wrong == "") || r.IsError && !strings.Contains(r.Meta.Error.Message, m.wrong) {
					t.Errorf("%s with %s %v: %+v", tool, m.name, m.value, r.Meta.Error)
				} else if !r.IsError {
					r = c.call("run_wait", map[string]any{"run_id": r.Structured.RunID})
					if string(r.Structured.Result) != fmt.Sprint(m.name == "lastword.budget") {
						t.Errorf("%s with %s has a budget: %s", tool, m.name, r.Structured.Result)
					}
				}
			}
		}
	})
}

// What went wrong inside is for the log, and not for the caller.
func TestInternalErrorsAreForTheLog(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	s, _ := doorTo(t, mcp.Config{Log: zap.New(core)}, nil)
	broken := errors.New("open /var/lib/secret: denied")
	tool := mcp.AddTool(s, mcp.Tool{Name: "broken"}, func(context.Context, struct{}) (*mcp.Result, error) { return nil, broken })
	resource := s.AddResource(mcp.Resource{Template: "broken://{x}", Name: "broken"},
		func(context.Context, string) (mcp.Contents, error) { return mcp.Contents{}, broken })
	if tool != nil || resource != nil {
		t.Fatal(tool, resource)
	}
	s.AddPrompt(mcp.Prompt{Name: "fine", Text: func(map[string]string) string { return "" }})
	inEachEra(t, func(t *testing.T, how era) {
		c := dial(t, s, how)
		why := c.fails("error", "broken", map[string]any{})
		m := c.do("resources/read", map[string]any{"uri": "broken://x"})
		if m.code(t) != -32603 || strings.Contains(m.Error.Message+string(m.Error.Data)+why, "secret") {
			t.Errorf("%q, %+v", why, m.Error)
		}
		if told := logs.TakeAll(); len(told) != 2 {
			t.Errorf("the log has %+v", told)
		}
	})
}

// doorCode is a line of a stack that names a function of the door or of its rooms, not of this test.
var doorCode = regexp.MustCompile(`(?m)^(created by )?\S*/transport/mcp(/[a-z]+)?\.`)

// atTheDoor are the stacks of the goroutines that the door has.
func atTheDoor() (stacks []string) {
	buffer := make([]byte, 8<<20)
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		if doorCode.MatchString(stack) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// Anyone who leaves, in the middle of whatever, leaves nothing behind at the door.
func TestNothingIsLeftOfThoseWhoLeft(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, system := taskDoor(t)
		s.AddChanges(fileChanges())
		var sessions atomic.Int64
		library(s).GetHooks().AddOnRegisterSession(func(context.Context, server.ClientSession) { sessions.Add(1) })
		library(s).GetHooks().AddOnUnregisterSession(func(context.Context, server.ClientSession) { sessions.Add(-1) })
		state, err := s.Start(t.Context(), "waits", nil, mcp.StartOptions{})
		must(t, err)
		t.Run("clients", func(t *testing.T) { // whose end has them leave
			for i := range 6 {
				c := dialAs(t, s, how, as{capabilities: both})
				for n, x := range c.everything(state.RunID) {
					switch (i + n) % 3 {
					case 1:
						c.cancel(x)
					case 2:
						c.hangUp(x)
					}
					if how.stdio && (i+n)%3 == 2 {
						break // it is gone
					}
				}
			}
		})
		if how == legacyHTTP {
			s.Close() // a session has no other end than that its time is over
		}
		must(t, system.Cancel(t.Context(), state.RunID, "", ""))
		for deadline := time.Now().Add(patience); ; runtime.Gosched() {
			left := atTheDoor()
			if len(left) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
			}
		}
		if left := sessions.Load(); left != 0 {
			t.Errorf("%d sessions are registered", left)
		}
	})
}

// everything are requests of every kind that do not end by themselves.
func (c *client) everything(id messages.RunID) []*exchange {
	open := []*exchange{
		c.callTool("waits", map[string]any{}, "t1"), c.callTool("confirm", map[string]any{}, "t2"),
		c.callTool("run_wait", of(id), nil), c.callTool("run_attach", of(id), "t3"),
		c.callTool("run_events", of(id, "after", 3, "wait_ms", 50_000), nil),
	}
	if c.how.modern {
		return append(open, c.start("subscriptions/listen", map[string]any{"notifications": map[string]any{
			"toolsListChanged": true, "resourceSubscriptions": []string{string(mcp.RunURI(id)), "x://y", "file://a"},
			"taskIds": []string{string(id)}}}))
	}
	c.do("resources/subscribe", map[string]any{"uri": mcp.RunURI(id)})
	c.do("resources/subscribe", map[string]any{"uri": "file://a"})
	c.callTool("run_start", map[string]any{"job": "waits", "detached": false}, nil).response()
	task := map[string]any{"name": "confirm", "arguments": map[string]any{}, "task": map[string]any{}}
	created := c.do("tools/call", task)
	return append(open, c.start("tasks/result", about(read[struct {
		Task struct {
			ID messages.RunID `json:"taskId"`
		} `json:"task"`
	}](c.t.(*testing.T), created.Result).Task.ID)))
}

// fileChanges are changes of resources file://{path}, which the artifacts of runs are by their paths.
func fileChanges() mcp.Changes {
	return mcp.Changes{
		Files: func(uri string) []string {
			if path, ok := strings.CutPrefix(uri, "file://"); ok {
				return []string{path}
			}
			return nil
		},
		File: func(_ messages.State, a messages.Artifact) string { return a.Path },
	}
}
