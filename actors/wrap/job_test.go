package wrap_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/wrap"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
)

var must = fatal.IfError

// refused is a JSON-RPC error of a server.
type refused struct{}

func (refused) Error() string { return "no" }
func (refused) RPC() json.RawMessage {
	return json.RawMessage(`{"code":-32099,"message":"no","data":{"a":1}}`)
}

// calling runs a call whose server ends the first time, and returns how often it was called and what became of the run.
func calling(t *testing.T, shown string, rule wrap.Rule, err error) (times int, state messages.State, events string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { times, state, events = called(t, shown, rule, err) })
	return times, state, events
}

func called(t *testing.T, shown string, rule wrap.Rule, err error) (times int, state messages.State, events string) {
	t.Helper()
	var results wrap.Results
	call := func(_ context.Context, c wrapped.Call) (json.RawMessage, error) {
		if times++; times == 1 && err != nil {
			return nil, err
		}
		c.Progress(0.5, 1, "half")
		time.Sleep(time.Second) // until it is told: what comes at once is merged, without the message
		c.Log("critical", "hot")
		return json.RawMessage(`{"content":[{"type":"text","text":"private"}]}`), nil
	}
	system, failed := actors.New(t.Context(), actors.Config{Jobs: []actors.Definition{wrap.Define(wrap.Config{Call: call, Held: &results,
		Rule: func(string, string) wrap.Rule { return rule }})}})
	must(t, failed)
	defer system.Close(t.Context())
	input := `{"server":"s","tool":"t","arguments":{"k":"secret words"}`
	if shown != "" {
		input += `,"shown":` + shown
	}
	id, failed := system.Submit(t.Context(), messages.Request{Job: wrap.Name, Input: json.RawMessage(input + "}")})
	must(t, failed)
	for e, failed := range system.Events(t.Context(), id, 0) {
		must(t, failed)
		text, failed := json.Marshal(e)
		must(t, failed)
		events += string(text) + "\n"
	}
	state, failed = system.State(t.Context(), id)
	must(t, failed)
	if held := results.Of(id); (held != nil) != (rule.Digest && state.Status == messages.Completed) {
		t.Errorf("memory has %s", held)
	}
	return times, state, events
}

// If a server ends during a call, the call is made again only if its tool or the operator says so.
func TestRepeats(t *testing.T) {
	ended := messages.Errorf(messages.CauseTransportClosed, "it ended")
	const idempotent, reads = `{"annotations":{"idempotentHint":true}}`, `{"annotations":{"readOnlyHint":true}}`
	for _, c := range []struct {
		shown string
		rule  wrap.Rule
		times int
	}{{"", wrap.Rule{Hints: true}, 1}, {`{"annotations":{}}`, wrap.Rule{Hints: true}, 1}, {idempotent, wrap.Rule{}, 1}, {idempotent, wrap.Rule{Hints: true}, 2},
		{reads, wrap.Rule{Hints: true}, 2}, {reads, wrap.Rule{Hints: true, Repeat: "never"}, 1}, {"", wrap.Rule{Repeat: "always"}, 2},
		{reads, wrap.Rule{Repeat: "always", Digest: true}, 1}} {
		times, state, _ := calling(t, c.shown, c.rule, ended)
		completed := state.Status == messages.Completed
		if times != c.times || completed != (times == 2) || !completed && !strings.Contains(state.End.Error.Message, "may have happened") {
			t.Errorf("%+v: %d times, %+v", c, times, state.End)
		}
	}
}

// The log has what the server says, and its JSON-RPC error as it is; with a digest it has neither arguments nor result.
func TestLog(t *testing.T) {
	_, state, events := calling(t, "", wrap.Rule{}, nil)
	fatal.IfLacking(t, events, "secret words", `"done":500,"total":1000,"unit":"‰"`, `"half"`, `"level":"error","task":"call","text":"hot"`)
	if string(state.End.Result) != `{"content":[{"type":"text","text":"private"}]}` {
		t.Errorf("the result is %s", state.End.Result)
	}
	if _, state, events := calling(t, "", wrap.Rule{}, refused{}); state.Status != messages.Failed || !strings.Contains(events, `"code":-32099`) {
		t.Errorf("%+v: %s", state.End, events)
	}
	if _, _, events := calling(t, "", wrap.Rule{Changed: true}, nil); strings.Count(events, `"code":"tool_changed"`) != 1 {
		t.Errorf("nothing says that the tool has changed: %s", events)
	}
	if _, state, events := calling(t, "", wrap.Rule{Digest: true}, nil); state.Status != messages.Completed || strings.Contains(events, "secret words") ||
		strings.Contains(events, "private") || !strings.Contains(string(state.End.Result), `"bytes":46`) {
		t.Errorf("%s: %s", state.End.Result, events)
	}
}
