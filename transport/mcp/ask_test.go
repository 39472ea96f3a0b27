package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// again is a call of the tool once more, with what its last result left to send.
func (c *client) again(tool string, arguments any, state string, responses map[string]any, token any) *exchange {
	params := map[string]any{"name": tool, "arguments": arguments, "requestState": state, "inputResponses": responses}
	if token != nil {
		params["_meta"] = map[string]any{"progressToken": token}
	}
	return c.start("tools/call", params)
}

func accepted(content map[string]any) map[string]any {
	return map[string]any{"action": "accept", "content": content}
}

// asked is a result that asks, for exactly the requests.
func asked(t *testing.T, m message, requests ...string) toolResult {
	t.Helper()
	r := m.toolResult(t)
	if got := slices.Sorted(maps.Keys(r.InputRequests)); r.ResultType != "input_required" || r.RequestState == "" ||
		!slices.Equal(got, requests) {
		t.Fatalf("asks for %v, want %v: %s", got, requests, m.Result)
	}
	return r
}

// Issue 5: "elicitation through multi-round requests with signed state". A call asks for all that is open, is told
// some, asks for the rest alone, and goes on with the one run; no event is told twice.
func TestCallAsksInRounds(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, system := taskDoor(t)
		c := dialAs(t, s, how, as{principal: "ann", capabilities: asks})
		all := c.callTool("two", map[string]any{}, "t1").until()
		first := all[len(all)-1].toolResult(t)
		for i := 0; len(first.InputRequests) < 2; i++ { // the job asks one after the other, and the call may be quicker
			all = append(all, c.again("two", map[string]any{}, first.RequestState, nil, fmt.Sprint("more", i)).until()...)
			first = all[len(all)-1].toolResult(t)
		}
		first = asked(t, all[len(all)-1], "name", "size")
		var e struct {
			Method string `json:"method"`
			Params struct {
				Message string         `json:"message"`
				Schema  map[string]any `json:"requestedSchema"`
			} `json:"params"`
		}
		if err := json.Unmarshal(first.InputRequests["name"], &e); err != nil || e.Method != "elicitation/create" ||
			e.Params.Message != "Your name?" || e.Params.Schema["type"] != "object" {
			t.Errorf("the question is %s", first.InputRequests["name"])
		}
		round := c.again("two", map[string]any{}, first.RequestState,
			map[string]any{"name": accepted(map[string]any{"value": "Ann"}), "unknown": 1}, "t2").until()
		second := asked(t, round[len(round)-1], "size")
		if second.RequestState == first.RequestState {
			t.Error("the second round has the state of the first")
		}
		all = append(all, round...)
		round = c.again("two", map[string]any{}, second.RequestState,
			map[string]any{"size": accepted(map[string]any{"size": 3})}, "t3").until()
		r := round[len(round)-1].toolResult(t)
		if r.ResultType != "complete" || string(r.Structured.Result) != `{"name":"Ann","size":{"size":3}}` {
			t.Fatalf("the result is %+v", r)
		}
		seq := 0.0
		for _, m := range append(all, round...) {
			if m.Method == "" {
				continue
			}
			p := m.progress(t)
			if p.Meta.Event == nil {
				continue // a heartbeat
			}
			if p.Progress != seq+1 {
				t.Errorf("event %v was told after %v", p.Progress, seq)
			}
			seq = p.Progress
		}
		if runs, err := system.List(t.Context(), messages.Query{Principal: "ann"}); err != nil || len(runs) != 1 ||
			uint64(seq) != runs[0].Seq-1 {
			t.Errorf("there are the runs %+v, with %v events told, %v", runs, seq, err)
		}
	})
}

// A response that does not fit what was asked is asked for again: the job never sees it.
func TestCallAsksAgainForWhatDoesNotFit(t *testing.T) {
	s, _ := taskDoor(t)
	c := dialAs(t, s, modernHTTP, as{capabilities: asks})
	r := asked(t, c.callTool("confirm", map[string]any{}, nil).response(), "sure")
	try := func(response any) message {
		return c.again("confirm", map[string]any{}, r.RequestState, map[string]any{"sure": response}, nil).response()
	}
	for _, bad := range []any{12345, nil, "yes", map[string]any{"action": "maybe"}, map[string]any{"action": "accept"},
		accepted(map[string]any{"value": "yes"})} {
		r = asked(t, try(bad), "sure")
	}
	got := try(accepted(map[string]any{"value": true})).toolResult(t)
	if string(got.Structured.Result) != `"answered true"` {
		t.Errorf("%+v", got)
	}
}

// "requestState is attacker-controlled": one that is not the server's, for this principal, this tool and these
// arguments is a JSON-RPC error, and the run never hears of it.
func TestStateOfAnotherCallIsRefused(t *testing.T) {
	s, system := taskDoor(t)
	add(t, s, mcp.JobTool{Job: "confirm", Name: "confirm_too"})
	ann := dialAs(t, s, modernHTTP, as{principal: "ann", capabilities: asks})
	bob := dialAs(t, s, modernHTTP, as{principal: "bob", capabilities: asks})
	state := asked(t, ann.callTool("confirm", map[string]any{}, nil).response(), "sure").RequestState
	yes := map[string]any{"sure": accepted(map[string]any{"value": true})}
	for name, x := range map[string]*exchange{
		"tampered with":     ann.again("confirm", map[string]any{}, state+"-TAMPERED", yes, nil),
		"made up":           ann.again("confirm", map[string]any{}, "e30.e30", yes, nil),
		"another principal": bob.again("confirm", map[string]any{}, state, yes, nil),
		"another tool":      ann.again("confirm_too", map[string]any{}, state, yes, nil),
		"other arguments":   ann.again("confirm", map[string]any{"x": 1}, state, yes, nil),
	} {
		if m := x.response(); m.code(t) != -32602 {
			t.Errorf("%s: %+v", name, m.Error)
		}
	}
	runs, err := system.List(t.Context(), messages.Query{Principal: "ann"})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	if run, err := system.State(t.Context(), runs[0].RunID); err != nil || run.Inputs[0].Closed {
		t.Errorf("the run was answered: %+v, %v", run.Inputs, err)
	}
	if runs, err := system.List(t.Context(), messages.Query{Principal: "bob"}); err != nil || len(runs) > 0 {
		t.Errorf("a refused state started %+v, %v", runs, err)
	}
}

// Servers with one key share what their clients carry, so that a restart, or a balancer, ends no call.
func TestStateOutlivesTheServer(t *testing.T) {
	key := seal.New(nil)
	before, system := doorTo(t, mcp.Config{Keys: key}, testJobs(), mcp.JobTool{Job: "confirm"})
	state := asked(t, dialAs(t, before, modernHTTP, as{capabilities: asks}).
		callTool("confirm", map[string]any{}, nil).response(), "sure").RequestState
	yes := map[string]any{"sure": accepted(map[string]any{"value": true})}
	for _, c := range []struct {
		key  seal.Keys
		good bool
	}{{nil, false}, {key, true}} {
		after := serverOf(t, mcp.Config{Runs: system, Name: "lastword", Version: "test", Keys: c.key}, mcp.JobTool{Job: "confirm"})
		client := dialAs(t, after, modernHTTP, as{capabilities: asks})
		m := client.again("confirm", map[string]any{}, state, yes, nil).response()
		if c.good {
			if r := m.toolResult(t); string(r.Structured.Result) != `"answered true"` {
				t.Errorf("%s", m.Result)
			}
		} else if m.code(t) != -32602 {
			t.Errorf("another key: %+v", m)
		}
	}
}

// Resumability is the client's own since 2026-07-28: a retry whose answer was lost comes to the same end.
func TestRetryAfterALostAnswer(t *testing.T) {
	s, system := taskDoor(t)
	c := dialAs(t, s, modernHTTP, as{capabilities: asks})
	state := asked(t, c.callTool("confirm", map[string]any{}, nil).response(), "sure").RequestState
	for _, value := range []bool{true, false, false} {
		answer := map[string]any{"sure": accepted(map[string]any{"value": value})}
		got := c.again("confirm", map[string]any{}, state, answer, nil).response().toolResult(t)
		if string(got.Structured.Result) != `"answered true"` {
			t.Errorf("%+v", got)
		}
	}
	if runs, err := system.List(t.Context(), messages.Query{}); err != nil || len(runs) != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
}

func inLegacy(t *testing.T, test func(t *testing.T, how era)) {
	for _, how := range []era{legacyHTTP, legacyStdio} {
		t.Run(how.String(), func(t *testing.T) { test(t, how) })
	}
}

// elicited is the next request of the server's.
func (c *client) elicited(t *testing.T) (request message, prompt string) {
	t.Helper()
	m := c.hears(t, "elicitation/create")
	return m, read[struct {
		Message string `json:"message"`
	}](t, m.Params).Message
}

// hears is the next message of the method that belongs to no exchange.
func (c *client) hears(t *testing.T, method string) message {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case m := <-c.inbox:
			if m.Method == method {
				return m
			}
		case <-late:
			t.Fatalf("no %s came", method)
		}
	}
}

// Clients of the protocol with sessions are asked by elicitation/create: in the same call, and while they wait for a task's result.
func TestLegacyClientIsAsked(t *testing.T) {
	inLegacy(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{capabilities: asks})
		content := map[string]map[string]any{"Your name?": {"value": "Ann"}, "Which size?": {"size": 3}}
		for _, task := range []bool{false, true} {
			method, params, related := "tools/call", map[string]any{"name": "two", "arguments": map[string]any{}}, `modelcontextprotocol/related-task"`
			if task {
				id := legacyBegin(t, c, "two", map[string]any{}).ID
				method, params, related = "tasks/result", about(id), related+`:{"taskId":"`+string(id)+`"}`
			}
			x := c.start(method, params)
			for range 2 {
				m, prompt := c.elicited(t)
				if strings.Contains(string(m.Params), related) != task {
					t.Errorf("of a task: %t, the question is %s", task, m.Params)
				}
				c.respond(m.ID, accepted(content[prompt]))
			}
			r := x.response().toolResult(t)
			if string(r.Structured.Result) != `{"name":"Ann","size":{"size":3}}` || r.ResultType != "" {
				t.Errorf("%+v", r)
			}
		}
	})
}

// To decline is to answer: the job sees null. A host that cannot ask its user cancels the question by itself, or fails:
// then the run waits, and the result says what for, and how to answer.
func TestQuestionsThatAreLeft(t *testing.T) {
	for action, answered := range map[string]bool{"decline": true, "cancel": false, "": false} {
		inEachEra(t, func(t *testing.T, how era) {
			s, system := taskDoor(t)
			c := dialAs(t, s, how, as{capabilities: asks})
			x := c.callTool("confirm", map[string]any{}, nil)
			response := map[string]any{"action": action}
			if how.modern {
				if action == "" {
					return // a client that cannot ask declares so
				}
				q := asked(t, x.response(), "sure")
				x = c.again("confirm", map[string]any{}, q.RequestState, map[string]any{"sure": response}, nil)
			} else if m, _ := c.elicited(t); action == "" {
				c.send("", nil, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no"}})
			} else {
				c.respond(m.ID, response)
			}
			r := x.response().toolResult(t)
			if answered {
				if string(r.Structured.Result) != `"answered null"` {
					t.Errorf("declined: %+v", r)
				}
				return
			}
			state, err := system.State(t.Context(), r.Structured.RunID)
			if err != nil || state.Canceling || r.IsError || r.Structured.Status != "waiting" || r.Structured.Questions[0].Request != "sure" ||
				!strings.Contains(r.Content[0].Text, "run_answer") {
				t.Fatalf("%q: %+v, %v", action, r, err)
			}
			c.call("run_answer", of(state.RunID, "request", "sure", "value", true))
			if r := c.call("run_wait", of(state.RunID)); r.Structured.Status != messages.Completed {
				t.Errorf("%q: %+v", action, r)
			}
		})
	}
}

// A question is taken back when its answer came some other way, or the run has ended: the call has its result,
// whether or not the user ever says something.
func TestLegacyQuestionsAreTakenBack(t *testing.T) {
	inLegacy(t, func(t *testing.T, how era) {
		s, system := taskDoor(t)
		c, other := dialAs(t, s, how, as{capabilities: asks}), dialAs(t, s, modernHTTP, as{})
		call := func() *exchange { return c.callTool("confirm", map[string]any{}, nil) }
		task := func() *exchange {
			return c.start("tasks/result", about(legacyBegin(t, c, "confirm", map[string]any{}).ID))
		}
		for i, test := range []struct {
			begin func() *exchange
			tool  string
			more  []any
			want  messages.Status
		}{
			{call, "run_answer", []any{"request", "sure", "value", true}, messages.Completed},
			{call, "run_cancel", nil, messages.Canceled},
			{task, "run_answer", []any{"request", "sure", "value", true}, messages.Completed},
			{task, "run_cancel", nil, messages.Canceled},
		} {
			x := test.begin()
			question, _ := c.elicited(t)
			active, err := system.List(t.Context(), messages.Query{Status: []messages.Status{messages.Processing}})
			if err != nil || len(active) != 1 {
				t.Fatalf("%d: %+v, %v", i, active, err)
			}
			other.call(test.tool, of(active[0].RunID, test.more...))
			all := x.until()
			if r := all[len(all)-1].toolResult(t); r.Structured.Status != test.want || r.Structured.RunID != active[0].RunID {
				t.Errorf("%d: %+v", i, r)
			}
			if how.stdio {
				all[0] = c.hears(t, "notifications/cancelled")
			}
			if m := all[0]; m.Method != "notifications/cancelled" || !strings.Contains(string(m.Params), string(question.ID)) {
				t.Errorf("%d: %s %s came, and %s was asked", i, m.Method, m.Params, question.ID)
			}
		}
	})
}

// A client that cannot ask its user is told the questions, and with which tools to answer and go on.
func TestClientThatCannotAskIsTold(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{})
		r := c.callTool("confirm", map[string]any{}, nil).response().toolResult(t)
		text := r.Content[0].Text
		if r.IsError || r.Structured.Status != "waiting" || len(r.Structured.Questions) != 1 || string(r.Structured.Questions[0].Schema) != `{"type":"boolean"}` ||
			len(r.InputRequests) > 0 {
			t.Fatalf("%+v", r)
		}
		fatal.IfLacking(t, text, "Delete it?", `"sure"`, `{"type":"boolean"}`, "run_answer", "run_wait",
			string(r.Structured.RunID))
		id := string(r.Structured.RunID)
		no := map[string]any{"run_id": id, "request": "sure", "value": false}
		c.callTool("run_answer", no, nil).response().toolResult(t)
		r = c.callTool("run_wait", map[string]any{"run_id": id}, nil).response().toolResult(t)
		if string(r.Structured.Result) != `"answered false"` {
			t.Errorf("%+v", r)
		}
	})
}
