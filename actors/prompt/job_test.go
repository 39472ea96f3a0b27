package prompt_test

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

func start(t *testing.T, in prompt.Input, config prompt.Config) *actors.Run {
	t.Helper()
	s := faultplan.Open(t, actors.Config{})
	job, err := prompt.Job(in, config)
	must(t, err)
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	return run
}

func ending(e model.Evidence, parts ...model.Part) model.Stream {
	return func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			for _, p := range parts {
				if !yield(p, nil) {
					return
				}
			}
			v := model.Judge(model.Strict, e)
			yield(model.End{Verdict: v, Evidence: e, Model: "qwen3-8b"}, v.Err())
		}
	}
}

func TestResult(t *testing.T) {
	hello := []model.Part{model.Thought{Text: "Hm."}, model.ThoughtDone{Text: "Hm."}, model.Text{Text: "Hello"}}
	for finish, want := range map[string]struct {
		degraded bool
		result   string
	}{
		"stop": {false, `{"text":"Hello","model":"qwen3-8b","finish_reason":"stop","thoughts":[{"text":"Hm."}]}`},
		"length": {true,
			`{"text":"Hello","model":"qwen3-8b","finish_reason":"length","truncated":true,"thoughts":[{"text":"Hm."}]}`},
		"content_filter": {true,
			`{"text":"Hello","model":"qwen3-8b","finish_reason":"content_filter","filtered":true,"thoughts":[{"text":"Hm."}]}`},
	} {
		e := model.Evidence{Done: true, Output: true, Finish: finish}
		state, err := start(t, prompt.Input{Text: "Say hello"}, prompt.Config{Stream: ending(e, hello...)}).Wait(t.Context())
		if err != nil || state.Status != messages.Completed || state.End.Degraded != want.degraded {
			t.Errorf("%s: %v, ended as %+v", finish, err, state.End)
		}
		if string(state.End.Result) != want.result {
			t.Errorf("%s: the result is %s, want %s", finish, state.End.Result, want.result)
		}
	}
}

// An answer of thoughts alone is less than was asked for.
func TestThoughtsAlone(t *testing.T) {
	e := model.Evidence{Done: true, Output: true, Finish: "stop"}
	stream := ending(e, model.Thought{Text: "Hm."}, model.ThoughtDone{Text: "Hm."})
	state, err := start(t, prompt.Input{Text: "Say hello"}, prompt.Config{Stream: stream}).Wait(t.Context())
	text, said := state.Stream("answer")
	if err != nil || !state.End.Degraded || !said || !text.Closed || text.Len() > 0 {
		t.Errorf("%v, ended as %+v, text %+v", err, state.End, text)
	}
}

// A verdict is final: a failed call is not made again.
func TestNoRetries(t *testing.T) {
	calls := 0
	stream := func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
		calls++
		return func(yield func(model.Part, error) bool) {
			e := model.Evidence{Failure: &model.Failure{Message: "overloaded"}, Status: 503}
			yield(model.End{Verdict: model.Judge(model.Strict, e), Evidence: e},
				&messages.Error{Code: "provider_error", Message: "overloaded", Retryable: true})
		}
	}
	state, err := start(t, prompt.Input{Text: "Say hello"}, prompt.Config{Stream: stream}).Wait(t.Context())
	if err != nil || calls != 1 || state.End.Cause != messages.CauseProviderError || state.End.Task != "respond" {
		t.Errorf("%v: %d calls, ended as %+v", err, calls, state.End)
	}
}

// What is asked is what the input says, no more and no less.
func TestRequest(t *testing.T) {
	for _, c := range fatal.Table[[]struct {
		In     prompt.Input
		Choose bool
		Want   json.RawMessage
	}](t, "testdata/requests.json") {
		var asked model.Request
		stream := func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
			asked = r
			return ending(model.Evidence{Done: true, Output: true}, model.Text{Text: "Hello"})(ctx, r)
		}
		config := prompt.Config{Stream: stream}
		if c.Choose {
			config.Choose = func(context.Context) (string, error) { return "chosen", nil }
		}
		_, err := start(t, c.In, config).Wait(t.Context())
		must(t, err)
		if got := short(t, asked); got != string(c.Want) {
			t.Errorf("%+v asks %s, want %s", c.In, got, c.Want)
		}
	}
}

// The calls of the caller's functions are the result, and nothing runs them. A long one is seen before its end.
func TestCallsAreTheResult(t *testing.T) {
	e := model.Evidence{Done: true, Output: true, Finish: "tool_calls"}
	written := strings.Repeat("x", 2<<10)
	stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			_ = yield(model.CallDelta{ID: "c1", Name: "write", Arguments: written}, nil) &&
				yield(model.End{Verdict: model.Judge(model.Strict, e), Evidence: e, Calls: []model.ToolCall{{ID: "c1", Name: "write", Arguments: "{}"}}}, nil)
		}
	}
	in := prompt.Input{Text: "Write", Functions: []model.Tool{{Name: "write"}}}
	state, err := start(t, in, prompt.Config{Stream: stream}).Wait(t.Context())
	if err != nil || state.Status != messages.Completed || state.End.Degraded ||
		string(state.End.Result) != `{"text":"","finish_reason":"tool_calls","calls":[{"id":"c1","name":"write","arguments":"{}"}]}` {
		t.Errorf("%v, ended as %+v", err, state.End)
	}
	if len(state.Progress) != 1 || state.Progress[0].Done != 2<<10 {
		t.Errorf("the progress is %+v", state.Progress)
	}
}

// An answer that is not of the format that was asked for is no answer.
func TestFormat(t *testing.T) {
	e := model.Evidence{Done: true, Output: true, Finish: "stop"}
	number := &model.Format{Schema: []byte(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)}
	for _, c := range []struct {
		format *model.Format
		answer string
		want   messages.Code
	}{
		{nil, "one", ""}, {&model.Format{}, `{"a":1}`, ""}, {&model.Format{}, `[1]`, messages.CauseInvalidOutput},
		{number, `{"n":1}`, ""}, {number, `{"n":"one"}`, messages.CauseInvalidOutput}, {number, "{", messages.CauseInvalidOutput},
	} {
		run := start(t, prompt.Input{Text: "A number", Format: c.format}, prompt.Config{Stream: ending(e, model.Text{Text: c.answer})})
		if state, err := run.Wait(t.Context()); err != nil || state.End.Cause != c.want {
			t.Errorf("%s: %v, ended as %+v", c.answer, err, state.End)
		}
	}
}

// short is the request as JSON without what it does not say.
func short(t *testing.T, r model.Request) string {
	t.Helper()
	data, err := json.Marshal(r)
	must(t, err)
	text := string(data)
	for _, empty := range []string{`"model":"",`, `"tools":null,`, `"choice":"",`, `"Format":null,`, `"max_tokens":0,`,
		`"temperature":null,`, `"top_p":null,`, `"stop":null,`, `"seed":null,`, `,"extra":null`, `"extra":null`,
	} {
		text = strings.ReplaceAll(text, empty, "")
	}
	return strings.ReplaceAll(text, ",}", "}")
}

func TestChoiceFails(t *testing.T) {
	choose := func(context.Context) (string, error) {
		return "", messages.Errorf(messages.CauseProviderError, "no model is loaded")
	}
	run := start(t, prompt.Input{Text: "Hi"}, prompt.Config{Stream: ending(model.Evidence{}), Choose: choose})
	state, err := run.Wait(t.Context())
	if err != nil || state.End.Cause != messages.CauseProviderError || len(state.Calls) != 0 {
		t.Errorf("%v, ended as %+v after %d calls", err, state.End, len(state.Calls))
	}
}

func TestInput(t *testing.T) {
	num := func(f float64) *float64 { return &f }
	stream := ending(model.Evidence{})
	for want, all := range map[messages.Code][]prompt.Input{
		"": {
			{Text: "Hi"}, {Text: "Hi", Temperature: num(0)}, {Text: "Hi", Temperature: num(2), TopP: num(1)},
			{Text: strings.Repeat("x", prompt.MaxBytes)},
		},
		messages.CauseInvalidInput: {
			{}, {Text: " \n"}, {Text: "\xff"}, {Text: "Hi", System: "\xff"}, {Text: "Hi", MaxTokens: -1},
			{Text: "Hi", Temperature: num(-0.1)}, {Text: "Hi", Temperature: num(2.1)},
			{Text: "Hi", Temperature: num(math.NaN())}, {Text: "Hi", TopP: num(0)}, {Text: "Hi", TopP: num(1.1)},
			{Text: "Hi", Earlier: []model.Message{{Role: model.System, Content: "x"}}},
			{Text: "Hi", Earlier: []model.Message{{Role: model.Assistant, Content: " "}}},
			{Text: "Hi", Earlier: []model.Message{{Role: model.Assistant, Content: "x", CallID: "c"}}},
			{Text: "Hi", Earlier: []model.Message{{Role: model.User, Content: "\xff"}}},
			{Earlier: []model.Message{{Role: model.User, Content: "Oslo?"}, {Role: model.Assistant, Calls: []model.ToolCall{{ID: "c1", Name: "weather", Arguments: "{}"}}}}}, {Text: "Hi", Earlier: []model.Message{{Role: model.ToolRole, Content: "x"}}},
			{Text: "Hi", Functions: []model.Tool{{}}}, {Text: "Hi", Functions: []model.Tool{{Name: "f"}, {Name: "f"}}},
			{Text: "Hi", Choice: "f"}, {Text: "Hi", Format: &model.Format{Schema: []byte(`{"type":1}`)}},
		},
		messages.CauseLimitExceeded: {
			{Text: strings.Repeat("x", prompt.MaxBytes), System: "y"},
			{Text: strings.Repeat("x", prompt.MaxBytes), Earlier: []model.Message{{Role: model.User, Content: "y"}}},
		},
	} {
		for i, in := range all {
			_, err := prompt.Job(in, prompt.Config{Stream: stream})
			if messages.CodeOf(err) != want {
				t.Errorf("%s %d: %v", want, i, err)
			}
		}
	}
	if _, err := prompt.Job(prompt.Input{Text: "Hi"}, prompt.Config{}); err == nil {
		t.Error("a job without a model is no job")
	}
}

var must = fatal.IfError
