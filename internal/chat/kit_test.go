package chat_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/seed889630bf/lastword/internal/conversation"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// said is an answer of the scripted model.
type said struct {
	thought, text string // a word at a time
	calls         []model.ToolCall
	opaque        bool   // the answer has members that go back with it
	finish        string // "" is stop, or tool_calls
}

func calls(list ...string) (out []model.ToolCall) {
	for i, c := range list {
		name, arguments, _ := strings.Cut(c, " ")
		out = append(out, model.ToolCall{ID: fmt.Sprint("c", i), Name: name, Arguments: cmp.Or(arguments, "{}")})
	}
	return out
}

// script is a model that gives the answers, and the last one again and again. It keeps the requests.
type script struct {
	answers  []said
	requests []model.Request
}

// stream waits after each word, until the run's reader has it.
func (s *script) stream(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
	s.requests = append(s.requests, r)
	a := s.answers[min(len(s.requests), len(s.answers))-1]
	return func(yield func(model.Part, error) bool) {
		e := model.Evidence{Done: true, Output: true, Finish: "stop"}
		say := func(p model.Part) {
			if ctx.Err() != nil || !yield(p, nil) {
				return
			}
			time.Sleep(time.Millisecond)
		}
		for _, word := range words(a.thought) {
			say(model.Thought{Text: word})
		}
		if a.thought != "" {
			say(model.ThoughtDone{Text: a.thought, Source: model.Field})
		}
		for _, word := range words(a.text) {
			say(model.Text{Text: word})
		}
		if len(a.calls) > 0 {
			e.Finish = "tool_calls"
		}
		e.Finish = cmp.Or(a.finish, e.Finish)
		if ctx.Err() != nil {
			e = model.Evidence{Output: true, Stopped: messages.CodeOf(context.Cause(ctx))}
		}
		v := model.Judge(model.Strict, e)
		in, extra := "", ""
		if a.opaque {
			in, extra = "reasoning", `{"signature":"x"}`
		}
		yield(model.End{Verdict: v, Evidence: e, Model: "qwen3-8b", Calls: a.calls, ThoughtsIn: in, Extra: extra,
			Usage: &messages.Usage{PromptTokens: new(int64(100)), CompletionTokens: new(int64(10))}}, v.Err())
	}
}

func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// tools are what the scripted model may call.
func tools(t *testing.T) *tool.Set {
	t.Helper()
	named := func(name string) tool.Tool { return tool.Tool{Name: name, Access: tool.Read} }
	type where struct {
		City string `json:"city"`
	}
	type wait struct {
		MS int `json:"ms"`
	}
	failed := false
	set, err := tool.NewSet(nil,
		tool.Func(named("weather"), func(_ context.Context, in where) (string, error) { return "rain in " + in.City, nil }),
		tool.Func(named("sleep"), func(_ context.Context, in wait) (string, error) {
			time.Sleep(time.Duration(in.MS) * time.Millisecond)
			return fmt.Sprintf("slept %d ms", in.MS), nil
		}),
		tool.Func(named("flaky"), func(context.Context, struct{}) (string, error) {
			if !failed {
				failed = true
				return "", errors.New("the station is busy; try again")
			}
			return "sunny", nil
		}),
		tool.Func(named("hang"), func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
	)
	must(t, err)
	return set
}

// talk runs a turn in virtual time, calls meanwhile for each of its events, and returns its events and end.
func talk(
	t *testing.T, in chat.Input, config chat.Config, journal actors.Journal, meanwhile func(*actors.Run, messages.Event),
) (events []messages.Event, state messages.State) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		events, state = talkNow(t, in, config, journal, func(_ *actors.System, run *actors.Run, e messages.Event) {
			if meanwhile != nil {
				meanwhile(run, e)
			}
		})
	})
	return events, state
}

// talkNow is talk in the time of the test.
func talkNow(
	t *testing.T, in chat.Input, config chat.Config, journal actors.Journal,
	meanwhile func(*actors.System, *actors.Run, messages.Event),
) (events []messages.Event, state messages.State) {
	t.Helper()
	s := faultplan.Open(t, actors.Config{Journal: journal})
	job, err := chat.Job(in, config)
	must(t, err)
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	for e, err := range run.Events(t.Context(), 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
		events = append(events, e)
		meanwhile(s, run, e)
	}
	if n := s.Stats().RefusedEvents; n != 0 {
		t.Errorf("%d events were refused", n)
	}
	return events, state
}

// transcript is what a watcher sees, and then what the model was sent last.
func transcript(t *testing.T, events []messages.Event, requests []model.Request) string {
	t.Helper()
	var out strings.Builder
	for _, e := range events {
		data, err := json.Marshal(e)
		must(t, err)
		var wire struct {
			Type    string
			Message string
			Payload map[string]json.RawMessage
		}
		must(t, json.Unmarshal(data, &wire))
		for _, dull := range []string{"sha256", "index", "offset", "stack", "limits", "mode", "writer", "epoch", "node", "id"} {
			delete(wire.Payload, dull)
		}
		payload, _ := json.Marshal(wire.Payload)
		fmt.Fprintf(&out, "%s %s %s\n", wire.Type, payload, wire.Message)
	}
	if len(requests) == 0 {
		return out.String()
	}
	fmt.Fprintf(&out, "\nrequest %d\n", len(requests))
	for _, m := range requests[len(requests)-1].Messages {
		fmt.Fprintf(&out, "  %s %s: %s\n", m.Role, m.CallID, m.Content)
		for _, c := range m.Calls {
			fmt.Fprintf(&out, "    call %s: %s %s\n", c.ID, c.Name, c.Arguments)
		}
	}
	return out.String()
}

// kept has the conversations of every principal in one store.
func kept(store *conversation.Store) func(string) (*conversation.Store, error) {
	return func(string) (*conversation.Store, error) { return store, nil }
}

var must = fatal.IfError
