package call_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/supervision"
)

var done = model.Evidence{Done: true, Output: true, Finish: "stop"}

// script is a model that says the parts and then ends with the evidence.
func script(e model.Evidence, parts ...model.Part) model.Stream {
	return func(_ context.Context, _ model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			for _, p := range parts {
				if !yield(p, nil) {
					return
				}
			}
			v := model.Judge(model.Strict, e)
			yield(model.End{Verdict: v, Evidence: e, Model: "qwen3-8b", FirstToken: 1500 * time.Microsecond,
				Usage: &messages.Usage{PromptTokens: new(int64(3)), CompletionTokens: new(int64(2))}}, v.Err())
		}
	}
}

// deaf is a model that says a word and then nothing until the call is cancelled.
func deaf(ctx context.Context, _ model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		if !yield(model.Text{Text: "Hel"}, nil) {
			return
		}
		<-ctx.Done()
		e := model.Evidence{Stopped: messages.CodeOf(context.Cause(ctx)), Output: true}
		v := model.Judge(model.Strict, e)
		yield(model.End{Verdict: v, Evidence: e}, v.Err())
	}
}

// An answer that calls tools alone has no text, and its end names the calls.
func TestRespondWithCalls(t *testing.T) {
	calls := []model.ToolCall{{ID: "a", Name: "look", Arguments: "{}"}, {ID: "b", Name: "wait", Arguments: "{"}}
	stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			yield(model.End{Verdict: model.Judge(model.Strict, done), Evidence: done, Calls: calls}, nil)
		}
	}
	events, state := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
		a, err := call.Respond(ctx, task, stream, model.Request{}, local)
		if a.ID != "answer.1.1" || !slices.Equal(a.Calls, calls) {
			t.Errorf("the answer to %s calls %v", a.ID, a.Calls)
		}
		return err
	}, nil)
	want := []messages.ToolCall{{Call: "answer.1.1.1", Tool: "look", Arguments: "{}"},
		{Call: "answer.1.1.2", Tool: "wait", Arguments: "{"}}
	for _, e := range events {
		if b, ok := e.Body.(messages.LLMCompleted); ok && !slices.Equal(b.Calls, want) {
			t.Errorf("the log has %v", b.Calls)
		}
	}
	if len(state.Streams) != 0 {
		t.Errorf("there are texts: %+v", state.Streams)
	}
}

type work = func(ctx context.Context, t *actors.TaskContext) error

// tell runs the work as the only task of a run, with what is to be done meanwhile, and returns the events.
// The task outlasts its work until the reader has read it all: a run that has ended tells its deltas merged.
func tell(t *testing.T, do work, meanwhile func(*actors.Run)) (events []messages.Event, state messages.State) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := faultplan.Open(t, actors.Config{})
		job := actors.Job{Name: "test", Tasks: []actors.Task{{
			Name: "work",
			Run: func(ctx context.Context, task *actors.TaskContext) error {
				defer time.Sleep(time.Nanosecond)
				return do(ctx, task)
			},
		}}}
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		if meanwhile != nil {
			synctest.Wait()
			meanwhile(run)
		}
		for e, err := range run.Events(t.Context(), 0) {
			if err == nil {
				state, err = state.Apply(e)
			}
			must(t, err)
			events = append(events, e)
		}
		if n := s.Stats().RefusedEvents; n != 0 {
			t.Errorf("%d events were refused", n)
		}
	})
	return events, state
}

// lines are the events in a few words, without the events of the run and its task.
func lines(events []messages.Event) (out []string) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case messages.LLMStarted:
			out = append(out, fmt.Sprintf("asked %s: %s of %s", b.Call, b.Model, b.Provider))
		case messages.TextDelta:
			out = append(out, b.Stream+" + "+b.Text)
		case messages.ThoughtDelta:
			out = append(out, b.Stream+" + "+b.Text)
		case messages.TextDone:
			out = append(out, b.Stream+" = "+b.Text)
		case messages.ThoughtDone:
			out = append(out, fmt.Sprintf("%s = %s (%s)", b.Stream, b.Text, b.Source))
		case messages.LLMCompleted:
			line := fmt.Sprintf("ended %s: %s, %s, %s", b.Call, b.Model, b.Evidence, b.Verdict)
			if b.Error != nil {
				line += " by " + string(b.Error.Code)
			}
			out = append(out, line)
		}
	}
	return out
}

func want(t *testing.T, events []messages.Event, want ...string) {
	t.Helper()
	if got := lines(events); !slices.Equal(got, want) {
		t.Errorf("the run says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var local = call.Label{Provider: "lmstudio"}

func TestRespond(t *testing.T) {
	certain := 0.75
	stream := script(done,
		model.Thought{Number: 0, Text: "Greet"}, model.Thought{Number: 0, Text: "ing."},
		model.ThoughtDone{Number: 0, Text: "Greeting.", Type: "planning", Confidence: &certain, Source: model.Tag},
		model.Text{Text: "Hel"}, model.Text{Text: "lo"},
		model.Thought{Number: 1, Text: "Greeting."},
		model.ThoughtDone{Number: 1, Text: "Greeting.", Source: model.Field, Repeated: true})
	var a call.Answer
	events, state := tell(t, func(ctx context.Context, task *actors.TaskContext) (err error) {
		a, err = call.Respond(ctx, task, stream, model.Request{Model: "qwen"}, local)
		return err
	}, nil)
	want(t, events,
		"asked answer.1.1: qwen of lmstudio",
		"answer.thought.0 + Greet", "answer.thought.0 + ing.", "answer.thought.0 = Greeting. (think-tag)",
		"answer + Hel", "answer + lo",
		"answer.thought.1 + Greeting.", "answer.thought.1 = Greeting. (reasoning-field)",
		"ended answer.1.1: qwen3-8b, done, completed",
		"answer = Hello")
	planning := call.Thought{Text: "Greeting.", Type: "planning", Confidence: &certain, Source: "think-tag"}
	if state.Status != messages.Completed || a.Text != "Hello" || !slices.Equal(a.Thoughts, []call.Thought{planning}) {
		t.Errorf("%s, answer %+v", state.Status, a)
	}
	swapped := []messages.Notice{{Task: "work", Code: messages.NoticeModelSwapped, Text: "qwen3-8b answered, not qwen"}}
	if !slices.Equal(state.Notices, swapped) {
		t.Errorf("the run goes without %+v", state.Notices)
	}
	for _, e := range events {
		b, ok := e.Body.(messages.LLMCompleted)
		used := messages.Usage{PromptTokens: new(int64(3)), CompletionTokens: new(int64(2))}
		if ok && (b.FirstTokenMS != 2 || b.FinishReason != "stop" || !reflect.DeepEqual(*b.Usage, used) || b.Task != "work") {
			t.Errorf("the call ended as %+v", b)
		}
		if ok && e.Message != "qwen3-8b answered, not qwen, in 2 tokens, the first after 2 ms" {
			t.Errorf("in words: %s", e.Message)
		}
	}
}

// A model that cannot stream says so: its words come when they come, and nobody makes pieces of them.
func TestModelDoesNotStream(t *testing.T) {
	long := strings.Repeat("It rains. ", 60)
	for name, c := range map[string]struct {
		parts    []model.Part
		evidence string
	}{
		"whole":  {[]model.Part{model.Text{Text: long}}, "done, not streamed"},
		"short":  {[]model.Part{model.Text{Text: "It rains."}}, "done"},
		"pieces": {[]model.Part{model.Text{Text: long}, model.Text{Text: "!"}}, "done"},
	} {
		said := 0
		events, _ := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
			_, err := call.Respond(ctx, task, script(done, c.parts...), model.Request{}, local)
			return err
		}, nil)
		for _, e := range events {
			switch b := e.Body.(type) {
			case messages.TextDelta:
				said++
			case messages.LLMCompleted:
				if b.Evidence != c.evidence || strings.Contains(e.Message, "does not stream") != (c.evidence != "done") {
					t.Errorf("%s: %s, %s", name, b.Evidence, e.Message)
				}
			}
		}
		if said != len(c.parts) {
			t.Errorf("%s: %d pieces became %d", name, len(c.parts), said)
		}
	}
}

// Every verdict that is not completed is the task's error, with its cause, and what was said stays open.
func TestRespondFails(t *testing.T) {
	for cause, e := range map[messages.Code]model.Evidence{
		messages.CauseProviderError:   {Failure: &model.Failure{Message: "overloaded"}, Status: 503},
		messages.CauseTransportClosed: {Read: "connection reset", Output: true},
		messages.CauseEmptyCompletion: {Done: true},
		messages.CauseDeadline:        {Stopped: messages.CauseDeadline},
		messages.CauseStalled:         {Stopped: messages.CauseStalled},
	} {
		events, state := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
			a, err := call.Respond(ctx, task, script(e, model.Text{Text: "Hel"}), model.Request{}, local)
			if a.Text != "Hel" {
				t.Errorf("%s: the answer is %+v", cause, a)
			}
			return supervision.Permanent(err)
		}, nil)
		want(t, events, "asked answer.1.1:  of lmstudio", "answer + Hel",
			fmt.Sprintf("ended answer.1.1: qwen3-8b, %s, failed by %s", e, cause))
		if text, _ := state.Stream("answer"); state.End.Cause != cause || state.Status != messages.Failed || text.Closed {
			t.Errorf("the run ended as %+v with %q", state.End, text.Text())
		}
	}
}

// A cancel is heard by the model; what the call came to is told before the terminal.
func TestRespondCanceled(t *testing.T) {
	events, state := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
		_, err := call.Respond(ctx, task, deaf, model.Request{Model: "qwen"}, local)
		return err
	}, func(run *actors.Run) { _ = run.Cancel(context.Background(), "enough") })
	want(t, events, "asked answer.1.1: qwen of lmstudio", "answer + Hel",
		"ended answer.1.1: qwen, stopped: canceled_by_user, canceled by canceled_by_user")
	if state.Status != messages.Canceled {
		t.Errorf("the run ended as %s", state.Status)
	}
}

// A caller's context that outlives the attempt does not keep the call alive.
func TestRespondEndsWithTheAttempt(t *testing.T) {
	talks := func(ctx context.Context, _ model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			for ctx.Err() == nil && yield(model.Text{Text: "again "}, nil) {
				time.Sleep(time.Second)
			}
			v := model.Judge(model.Strict, model.Evidence{Stopped: messages.CodeOf(context.Cause(ctx))})
			yield(model.End{Verdict: v}, v.Err())
		}
	}
	_, state := tell(t, func(_ context.Context, task *actors.TaskContext) error {
		_, err := call.Respond(context.Background(), task, talks, model.Request{}, local)
		return err
	}, func(run *actors.Run) { _ = run.Cancel(context.Background(), "enough") })
	if state.Status != messages.Canceled || len(state.Calls) != 1 || !state.Calls[0].Ended {
		t.Errorf("%s, calls %+v", state.Status, state.Calls)
	}
}

// JSON that was cut is no answer; text that was cut is one.
func TestCutJSON(t *testing.T) {
	for _, finish := range []string{"length", "content_filter"} {
		cut := model.Evidence{Done: true, Output: true, Finish: finish}
		for format, cause := range map[*model.Format]messages.Code{nil: "", {}: messages.CauseInvalidOutput} {
			_, state := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
				r := model.Request{Format: format}
				a, err := call.Respond(ctx, task, script(cut, model.Text{Text: `{"a":`}), r, local)
				if v := a.End.Verdict; !v.Truncated && !v.Filtered || v.Cause != cause {
					t.Errorf("%s: %+v", finish, v)
				}
				return err
			}, nil)
			if state.End.Cause != cause {
				t.Errorf("%s, format %v: the run ended by %q", finish, format, state.End.Cause)
			}
		}
	}
}

// A stream that breaks its promise of an End leaves no call open, and is no success.
func TestStreamWithoutEnd(t *testing.T) {
	broken := errors.New("broken client")
	for name, stream := range map[string]model.Stream{
		"nothing": func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			return func(func(model.Part, error) bool) {}
		},
		"error": func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			return func(yield func(model.Part, error) bool) { yield(nil, broken) }
		},
		"panic": func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			return func(func(model.Part, error) bool) { panic(broken) }
		},
	} {
		_, state := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
			_, err := call.Respond(ctx, task, stream, model.Request{}, local)
			return err
		}, nil)
		if state.Status != messages.Failed || len(state.Calls) != 1 || !state.Calls[0].Ended {
			t.Errorf("%s: %s, calls %+v", name, state.Status, state.Calls)
		}
		if name != "nothing" && !strings.Contains(state.End.Error.Message, "broken client") {
			t.Errorf("%s: the error is %+v", name, state.End.Error)
		}
	}
}

// The calls of one voice, in one attempt and over attempts, have their own names, and so have their thoughts.
func TestToldNamesCalls(t *testing.T) {
	stream := script(done, model.Thought{Text: "Hm."}, model.ThoughtDone{Text: "Hm."}, model.Text{Text: "{}"})
	events, state := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
		asError := call.Recorded(task, stream, call.Label{Name: "analysis"})
		for range 2 {
			for _, err := range asError(ctx, model.Request{Model: "qwen"}) {
				if err != nil {
					return err
				}
			}
		}
		if task.Attempt() == 1 {
			return &messages.Error{Code: "error", Message: "once more", Retryable: true}
		}
		return nil
	}, nil)
	once := func(attempt int) []string {
		var all []string
		for n := range 2 {
			all = append(all, fmt.Sprintf("asked analysis.%d.%d: qwen of ", attempt, n+1),
				fmt.Sprintf("analysis.thought.%d + Hm.", n), fmt.Sprintf("analysis.thought.%d = Hm. ()", n),
				fmt.Sprintf("ended analysis.%d.%d: qwen3-8b, done, completed", attempt, n+1))
		}
		return all
	}
	want(t, events, append(once(1), once(2)...)...)
	if state.Status != messages.Completed {
		t.Errorf("the run ended as %+v", state.End)
	}
}

// Who stops reading ends the call, which is told.
func TestToldStopsEarly(t *testing.T) {
	over := false
	events, _ := tell(t, func(ctx context.Context, task *actors.TaskContext) error {
		stream := func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
			context.AfterFunc(ctx, func() { over = true })
			return script(done, model.Text{Text: "Hel"}, model.Text{Text: "lo"})(ctx, r)
		}
		for range call.Recorded(task, stream, local)(ctx, model.Request{Model: "qwen"}) {
			break
		}
		return nil
	}, nil)
	want(t, events, "asked answer.1.1: qwen of lmstudio", "ended answer.1.1: qwen, none, failed by error")
	if !over {
		t.Error("the call goes on")
	}
}
