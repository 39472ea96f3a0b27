package chat_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// TestDefectsOfJeeves has a subtest for each defect of the system whose stages these are. Others have tests of their
// own: JSON of other stages in the answer (TestAnswerHasNoJSON), citations that are links, indices or code
// (citation.TestCorpus), a tool that think never runs, a field that is missing, and a debug mode that asks twice
// (TestStagedTranscripts), words that are sent again (TestModelFails), a cancel that is not the end
// (TestCancelLeavesTheConversation).
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
}
