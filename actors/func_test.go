package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

type order struct {
	Item  string `json:"item"`
	Count int    `json:"count,omitempty"`
}

// serving starts a node with the one job named job.
func serving(t *testing.T, job actors.Definition) *actors.System {
	t.Helper()
	system := open(t, actors.Config{Jobs: []actors.Definition{job}})
	return system
}

// ended runs the job named job on the input and returns its last State.
func cancelCause(t *testing.T, system *actors.System, input string) messages.State {
	t.Helper()
	id, err := system.Submit(t.Context(), messages.Request{Job: "job", Input: json.RawMessage(input)})
	noError(t, err)
	var state messages.State
	for e, err := range system.Events(t.Context(), id, 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		noError(t, err)
	}
	return state
}

func TestFunctionIsAJob(t *testing.T) {
	system := serving(t, actors.Func("job", func(ctx context.Context, t *actors.TaskContext, in order) ([]string, error) {
		if err := t.AppendText("answer", in.Item); err != nil {
			return nil, err
		}
		return strings.Split(strings.Repeat(in.Item+" ", in.Count), " ")[:in.Count], nil
	}))
	state := cancelCause(t, system, `{"item":"tea","count":2}`)
	if got := string(state.End.Result); state.Status != messages.Completed || got != `["tea","tea"]` {
		t.Errorf("%s with %s", state.Status, got)
	}
	if text, ok := state.Stream("answer"); !ok || text.Text() != "tea" {
		t.Errorf("the function's text is not in the run: %v", state.Streams)
	}
	if got := string(state.Queued.Input); got != `{"item":"tea","count":2}` {
		t.Errorf("the run's input is %s", got)
	}
	if state.End.Degraded {
		t.Error("the result is said to be less than was asked for")
	}
	for _, none := range []string{``, " \n"} {
		if empty := cancelCause(t, system, none); string(empty.End.Result) != `[]` {
			t.Errorf("without an input the result is %s", empty.End.Result)
		}
	}
}

func TestFunctionInputIsStrict(t *testing.T) {
	job := actors.Func("job", func(context.Context, *actors.TaskContext, order) (any, error) { return nil, nil })
	for input, says := range map[string]string{
		`{"item":"tea","colour":1}`: `"colour"`,
		`{"count":"two"}`:           `"count"`,
		`{"item":"tea"} {}`:         "more than one",
		`[1]`:                       "cannot be a JSON array",
		`{"item":`:                  "cannot be read",
	} {
		_, err := job.New(json.RawMessage(input))
		if messages.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestFunctionFails(t *testing.T) {
	system := serving(t, actors.Func("job", func(_ context.Context, _ *actors.TaskContext, how string) (any, error) {
		if how == "panic" {
			panic("as asked")
		}
		return "half", errors.New("as asked")
	}))
	for how, cause := range map[string]messages.Code{"panic": messages.CausePanic, "error": messages.CauseError} {
		state := cancelCause(t, system, fmt.Sprintf("%q", how))
		if state.Status != messages.Failed || state.End.Cause != cause || state.End.Result != nil {
			t.Errorf("%s: %s, cause %s, result %s", how, state.Status, state.End.Cause, state.End.Result)
		}
		if !strings.Contains(state.End.Error.Message, "as asked") {
			t.Errorf("%s: %s", how, state.End.Error.Message)
		}
	}
}

// "actors.Func gives a Definition with schemas from its Go types": what is no object is the member input of one.
func TestFunctionTakesWhatItsSchemaSays(t *testing.T) {
	greet := actors.Func("job", func(_ context.Context, _ *actors.TaskContext, name string) (string, error) {
		return "Hello, " + name, nil
	})
	if got := string(greet.Input()); got != `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}` {
		t.Errorf("the input is %s", got)
	}
	if got := string(greet.Output()); got != `{"type":"string"}` {
		t.Errorf("the output is %s", got)
	}
	system := serving(t, greet)
	for _, input := range []string{`"Ada"`, `{"input":"Ada"}`} {
		if state := cancelCause(t, system, input); string(state.End.Result) != `"Hello, Ada"` || string(state.Queued.Input) != `"Ada"` {
			t.Errorf("%s: %s of %s", input, state.End.Result, state.Queued.Input)
		}
	}
	_, err := greet.New(json.RawMessage(`{"input":"Ada","more":1}`))
	if messages.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), `"more"`) {
		t.Error(err)
	}
}

func TestDefinitionsHaveNamesOfTheirOwn(t *testing.T) {
	greet := actors.Func("greet", func(context.Context, *actors.TaskContext, any) (any, error) { return nil, nil })
	for _, jobs := range [][]actors.Definition{{greet, greet}, {{Name: "greet"}}, {{New: greet.New}}} {
		if _, err := actors.New(t.Context(), actors.Config{Jobs: jobs}); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%v: %v", jobs, err)
		}
	}
}
