package chat_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// TestDefectsOfJeeves has a subtest for each defect of the system whose stages these are. Others have tests of their
// own: JSON of other stages in the answer (TestAnswerHasNoJSON), citations that are links, indices or code
// (citation.TestCorpus).
func TestDefectsOfJeeves(t *testing.T) {
	staged := func(t *testing.T, in chat.Input, bounds chat.Bounds, answers ...said) (*script, []messages.Event, messages.State) {
		m := &script{answers: answers}
		in.Message, in.Stages = "How is it in Oslo?", true
		events, state := talk(t, in, chat.Config{Stream: m.stream, Tools: tools(t), Bounds: bounds}, nil, nil)
		return m, events, state
	}
	has := func(t *testing.T, state messages.State, want ...string) {
		t.Helper()
		fatal.IfLacking(t, string(state.End.Result), want...)
	}
	t.Run("think never runs its tool", func(t *testing.T) {
		m, _, state := staged(t, chat.Input{}, chat.Bounds{}, said{text: search}, looks, said{text: rain}, said{text: "It rains."})
		last := m.requests[3].Messages
		ran := slices.ContainsFunc(last, func(m model.Message) bool { return m.Role == model.ToolRole && m.Content == "rain in Oslo" })
		if !ran || len(state.Calls) != 5 {
			t.Errorf("respond was sent %+v", last)
		}
	})
	t.Run("the bound of iterations never fires", func(t *testing.T) {
		m, _, state := staged(t, chat.Input{}, chat.Bounds{Iterations: 2}, said{text: search}, looks,
			said{calls: calls(`weather {"city":"Bergen"}`)}, said{text: "It rains."})
		has(t, state, `"confidence":"low"`, `still calls tools after 2 answers`, `"text":"It rains."`)
		if len(m.requests) != 4 || !state.End.Degraded {
			t.Errorf("%d calls of the model, degraded %t", len(m.requests), state.End.Degraded)
		}
	})
	t.Run("a streamed turn is not finished as a whole one is", func(t *testing.T) {
		for _, tokens := range []chat.Tokens{"authoritative", "off", "debug"} {
			_, _, state := staged(t, chat.Input{Tokens: tokens}, chat.Bounds{}, said{text: search}, looks, said{text: rain},
				said{text: "It rains [weather]."})
			has(t, state, `"text":"It rains [weather]."`, `"citations":[{"source":"weather"`, `"confidence":"medium"`,
				`"finish_reason":"stop"`, `"usage":{"prompt_tokens":400,"completion_tokens":40}`)
		}
	})
	t.Run("a missing field is a warning", func(t *testing.T) {
		m, _, state := staged(t, chat.Input{Output: "structured"}, chat.Bounds{}, said{text: greeting},
			said{text: `{"response":"Hello.","confidence":"high"}`}, said{text: `{"response":"Hello.","citations":[],"confidence":"high"}`})
		again := m.requests[2].Messages
		if words := again[len(again)-1].Content; !strings.Contains(words, "citations is missing") || state.End.Degraded {
			t.Errorf("the model is told %q", words)
		}
	})
	t.Run("debug asks the model twice", func(t *testing.T) {
		m, _, state := staged(t, chat.Input{Output: "structured", Tokens: "debug"}, chat.Bounds{}, said{text: greeting}, said{text: reply})
		raw, _ := state.Stream("answer.1.debug")
		if len(m.requests) != 2 || raw.Text() != reply {
			t.Errorf("%d calls of the model, and the raw text %q", len(m.requests), raw.Text())
		}
	})
	t.Run("tokens come again after a retry", func(t *testing.T) {
		_, events, state := staged(t, chat.Input{Output: "structured"}, chat.Bounds{}, said{text: greeting},
			said{text: `{"response":"It rains in Oslo. Take`}, said{text: reply})
		text, _ := state.Stream("answer.1")
		var streamed strings.Builder
		for _, e := range events {
			if d, ok := e.Body.(messages.TextDelta); ok {
				streamed.WriteString(d.Text)
			}
		}
		if want := "It rains in Oslo. Take an umbrella."; streamed.String() != want || text.Text() != want {
			t.Errorf("%q streamed, and then %q", streamed.String(), text.Text())
		}
	})
	t.Run("words from the middle of a failure are sent again", func(t *testing.T) {
		asked := 0
		cut := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			asked++
			return func(yield func(model.Part, error) bool) {
				yield(model.Text{Text: "It rai"}, nil)
				e := model.Evidence{Read: "connection reset", Output: true}
				v := model.Judge(model.Strict, e)
				yield(model.End{Verdict: v, Evidence: e}, v.Err())
			}
		}
		_, state := talk(t, chat.Input{Message: "Go.", Stages: true}, chat.Config{Stream: cut}, nil, nil)
		if asked != 1 || state.End.Cause != messages.CauseTransportClosed || state.End.Task != "respond" {
			t.Errorf("%d calls, %+v", asked, state.End)
		}
	})
	t.Run("a cancel is not the end", func(t *testing.T) {
		for at, events := 1, 2; at < events; at++ {
			m := script{answers: []said{{text: search}, looks, {text: rain}, {text: "It rains in Oslo."}}}
			seen := 0
			log, state := talk(t, chat.Input{Message: "Go.", Stages: true}, chat.Config{Stream: m.stream, Tools: tools(t)}, nil,
				func(run *actors.Run, _ messages.Event) {
					if seen++; seen == at {
						_ = run.Cancel(context.Background(), "enough") // the last are too late
					}
				})
			terminals := slices.DeleteFunc(log, func(e messages.Event) bool { return !e.Kind().IsTerminal() })
			if events = seen; len(terminals) != 1 || state.Status != messages.Canceled && at < events-3 {
				t.Errorf("after event %d of %d: %s, %d terminals", at, events, state.Status, len(terminals))
			}
			for _, c := range state.Calls {
				if !c.Ended {
					t.Errorf("after event %d: nobody knows how %s ended", at, c.ID)
				}
			}
		}
	})
}
