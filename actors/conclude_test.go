package actors_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// The call of a cancelled task has its end in the log, between run.canceling and the terminal.
func TestConcludeAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		var told, more error
		run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
			if err := task.Emit(messages.LLMStarted{Call: "m1", Model: "qwen"}, ""); err != nil {
				return err
			}
			<-ctx.Done()
			told = task.Conclude(messages.LLMCompleted{Call: "m1", Model: "qwen", Verdict: "canceled"}, "")
			more = task.Said("answer", "too late")
			return context.Cause(ctx)
		}), actors.Options{})
		synctest.Wait()
		noError(t, run.Cancel(t.Context(), ""))
		state := wait(t, run)
		expect(t, state, messages.Canceled, messages.ByRun, messages.CauseCanceledByUser)
		if told != nil || more == nil {
			t.Errorf("Conclude: %v; Said: %v", told, more)
		}
		if len(state.Calls) != 1 || !state.Calls[0].Ended || len(state.Streams) != 0 {
			t.Errorf("calls %+v, streams %+v", state.Calls, state.Streams)
		}
	})
}

func TestConcludeIsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			return task.Conclude(messages.TextDone{Stream: "answer"}, "")
		}), actors.Options{})
		expect(t, wait(t, run), messages.Failed, messages.ByRun, messages.CauseInvalidInput)
	})
}

// A task is told why the run ends, and can say it of its calls.
func TestTaskKnowsWhyTheRunEnds(t *testing.T) {
	for want, limits := range map[messages.Code]messages.Limits{
		messages.CauseDeadline: {WallClockMS: 1000}, messages.CauseStalled: {StallMS: 1000},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, actors.Config{})
			var cause error
			run := start(t, s, job(func(ctx context.Context, task *actors.TaskContext) error {
				cause = heed(ctx, task)
				return cause
			}), actors.Options{Limits: limits})
			expect(t, wait(t, run), messages.Failed, messages.ByRun, want)
			if messages.CodeOf(cause) != want {
				t.Errorf("the task's cause is %v, want %s", cause, want)
			}
		})
	}
}
