package chat_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// TestDefectsOfLooopy has a subtest for each defect of the system whose loop this is. Others have transcripts: loops
// without a bound (no-arguments-loop, iteration-bound), malformed arguments that end the turn (bad-arguments), calls
// that never get a result (unknown-tool, cancel-then-ask), a failed agent that counts as a success (sub-agent-fails),
// and a turn that forgets in a restart that it waits (answer-after-restart).
func TestDefectsOfLooopy(t *testing.T) {
	play := func(config chat.Config, f func(w *told)) {
		synctest.Test(t, func(t *testing.T) {
			s := faultplan.Open(t, actors.Config{})
			config.Tools, config.Conversations = bank(t, tool.Tool{}), kept(conversation.NewMemory(10))
			f(&told{t: t, system: s, script: &script{}, config: config})
		})
	}
	end := func(w *told, run *actors.Run) messages.State {
		state, err := run.Wait(context.Background())
		must(w.t, err)
		return state
	}
	t.Run("a provider error poisons the agent", func(t *testing.T) {
		m, asked := script{answers: []said{{text: "Hello."}}}, 0
		stream := func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
			if asked++; asked > 1 {
				return m.stream(ctx, r)
			}
			return func(yield func(model.Part, error) bool) {
				e := model.Evidence{Failure: &model.Failure{Message: "overloaded"}, Status: 503}
				v := model.Judge(model.Strict, e)
				yield(model.End{Verdict: v, Evidence: e}, v.Err())
			}
		}
		play(chat.Config{Stream: stream}, func(w *told) {
			if state := end(w, w.start(chat.Input{Message: "Hi.", Context: "c_1"})); state.End.Cause != messages.CauseProviderError {
				t.Errorf("the first turn ends as %+v", state.End)
			}
			if state := end(w, w.start(chat.Input{Message: "Hi?", Context: "c_1"})); state.Status != messages.Completed {
				t.Errorf("the next turn ends as %+v", state.End)
			}
		})
	})
	t.Run("who stops watching frees a turn that goes on", func(t *testing.T) {
		m := script{answers: []said{{calls: calls("hang")}, {text: "Done."}}}
		play(chat.Config{Stream: m.stream}, func(w *told) {
			first := w.start(chat.Input{Message: "Hang.", Context: "c_1"})
			for e := range first.Events(context.Background(), 0) {
				if e.Kind() == messages.KindToolStarted {
					break
				}
			}
			time.Sleep(time.Second)
			second := end(w, w.start(chat.Input{Message: "Hi?", Context: "c_1"}))
			if second.Status != messages.Completed || second.BeganAt.IsZero() { // it has waited
				t.Errorf("the second turn ends as %+v", second.End)
			}
			if state := end(w, first); state.Status != messages.Completed {
				t.Errorf("the first turn ends as %+v", state.End)
			}
		})
	})
	t.Run("a replay has what the filter leaves out", func(t *testing.T) {
		m := script{answers: []said{{thought: "I must look.", calls: calls("look")}, {text: "Seen."}}}
		play(chat.Config{Stream: m.stream}, func(w *told) {
			run := w.start(chat.Input{Message: "Look."})
			end(w, run)
			var kinds []messages.Kind
			want := messages.FollowOptions{Filter: messages.Filter{Kinds: []messages.Kind{messages.KindTextDone}}}
			for events, err := range w.system.Follow(context.Background(), run.ID(), want) {
				must(t, err)
				for _, e := range events {
					if e.Body != nil {
						kinds = append(kinds, e.Kind())
					}
				}
			}
			if len(kinds) != 2 || kinds[0] != messages.KindTextDone || kinds[1] != messages.KindRunCompleted {
				t.Errorf("the reader gets %v", kinds)
			}
		})
	})
}
