package lab_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

func toolFigures() []figure {
	return []figure{{name: "ten tools between two answers of a turn", unit: "ms", goal: 1, ours: tenTools}}
}

// tenTools is the median time in milliseconds from the end of an answer with ten calls of tools, which do nothing, to
// the next request.
func tenTools(t *testing.T) float64 {
	nothing := tool.Func(tool.Tool{Name: "nothing", Access: tool.Read}, func(context.Context, struct{}) (string, error) { return "", nil })
	set, err := tool.NewSet(nil, nothing)
	must(t, err)
	calls := make([]model.ToolCall, 10)
	for i := range calls {
		calls[i] = model.ToolCall{ID: fmt.Sprint("c", i), Name: "nothing", Arguments: "{}"}
	}
	s, done := newSystem(t, actors.Config{})
	defer done()
	times := make([]float64, 101)
	for i := range times {
		var asked time.Time
		stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			return func(yield func(model.Part, error) bool) {
				end := model.End{Evidence: model.Evidence{Done: true, Output: true, Finish: "stop"}}
				if asked.IsZero() {
					end.Calls, end.Evidence.Finish = calls, "tool_calls"
				} else {
					times[i] = float64(time.Since(asked)) / float64(time.Millisecond)
					yield(model.Text{Text: "Done."}, nil)
				}
				end.Verdict = model.Judge(model.Strict, end.Evidence)
				asked = time.Now()
				yield(end, nil)
			}
		}
		job, err := chat.Job(chat.Input{Message: "Go."}, chat.Config{Stream: stream, Tools: set})
		must(t, err)
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		if state, err := run.Wait(t.Context()); err != nil || state.Status != messages.Completed {
			t.Fatal(state.End, err)
		}
	}
	return median(times)
}
