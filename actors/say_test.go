package actors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

func told(message, content string) messages.Said {
	return messages.Said{Message: message, Mode: messages.Steer, Content: content}
}

// "A message is in the log before it is accepted; the same id is the same message; exactly one of delivered and dropped
// follows, in order, and those that nobody took are dropped in the terminal's own block."
func TestSend(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		hear, heard := make(chan struct{}), []string{}
		j := job(func(ctx context.Context, task *actors.TaskContext) error {
			<-task.Heard() // the first of them wakes it
			<-hear
			got, err := task.Messages(ctx, "call.1")
			for _, m := range got {
				heard = append(heard, m.Message+m.At)
			}
			<-hear
			return err
		})
		silent := start(t, s, job(heed), actors.Options{})
		j.Messages = true
		run := start(t, s, j, actors.Options{})
		send := func(to *actors.Run, said messages.Said, code messages.Code) messages.Message {
			t.Helper()
			m, err := to.Send(t.Context(), said)
			if messages.CodeOf(err) != code {
				t.Errorf("%+v: %v, want %q", said, err, code)
			}
			return m
		}
		send(silent, told("a", "x"), messages.CauseInvalidInput)
		noError(t, silent.Cancel(t.Context(), ""))
		synctest.Wait() // the task waits
		first := send(run, told("a", "one"), "")
		if state, _ := run.State(t.Context()); first.Position != 1 || state.Messages[0] != first {
			t.Errorf("accepted as %+v, and the log has %+v", first, state.Messages)
		}
		second := send(run, messages.Said{Content: "two"}, "")
		if again := send(run, told("a", "one"), ""); again != first || second.Position != 2 || second.Message == "" {
			t.Errorf("the same message is %+v, then %+v; another is %+v", first, again, second)
		}
		send(run, told("a", "other"), messages.CodeConflict)
		send(run, told("b", strings.Repeat("x", messages.MessageBytes+1)), messages.CauseLimitExceeded)
		send(run, told("b", "back"), "")
		noError(t, s.Revoke(t.Context(), run.ID(), "b"))
		hear <- struct{}{}
		synctest.Wait()
		if want := fmt.Sprint([]string{"acall.1", second.Message + "call.1"}); fmt.Sprint(heard) != want {
			t.Errorf("heard %v, want %s", heard, want)
		}
		if err := s.Revoke(t.Context(), run.ID(), "a"); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("a delivered message was taken back: %v", err)
		}
		for i := range messages.MostMessages {
			send(run, told(fmt.Sprint("late", i), "x"), "")
		}
		send(run, told("one more", "x"), messages.CauseLimitExceeded)
		close(hear)
		state := wait(t, run)
		send(run, told("after", "x"), messages.CodeConflict)
		send(run, told("a", "one"), "")
		for _, m := range state.Messages[3:] {
			if m.Dropped != messages.DropEnded || m.At != "" {
				t.Errorf("at the end %+v", m)
			}
		}
		if last := state.Seq - messages.MostMessages; state.Messages[3].Seq >= last || len(state.Messages) != 3+messages.MostMessages {
			t.Errorf("%d messages, the last event is %d", len(state.Messages), state.Seq)
		}
	})
}

// "Whoever ends the run drops its messages": recovery, and a cancel.
func TestMessagesEndWithTheRun(t *testing.T) {
	open := messages.MessageQueued{Said: told("m", "x")}
	lost := recovers(t, job(heed), messages.RunQueued{}, begins("work", 1), open)
	expect(t, lost, messages.Failed, messages.ByRecovery, messages.CauseNodeLost)
	if lost.Messages[0].Dropped != messages.DropEnded {
		t.Errorf("a message to a lost run: %+v", lost.Messages)
	}
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		j := job(heed)
		j.Messages = true
		run := start(t, s, j, actors.Options{})
		_, err := run.Send(t.Context(), told("m", "x"))
		noError(t, err)
		noError(t, run.Cancel(t.Context(), ""))
		if state := wait(t, run); state.Messages[0].Dropped != messages.DropCanceled {
			t.Errorf("a message to a canceled run: %+v", state.Messages)
		}
	})
}

// "An interrupt ends what is interruptible, and declines questions. A message that the run has already interrupts nothing."
func TestInterrupt(t *testing.T) {
	plays(t, actors.Config{}, func(t *testing.T, s *actors.System) {
		j := job(func(ctx context.Context, task *actors.TaskContext) error {
			inner, stop := task.Interruptible(ctx)
			<-inner.Done()
			if stop(); context.Cause(inner) != error(actors.ErrInterrupted) || ctx.Err() != nil {
				t.Errorf("it ended by %v", context.Cause(inner))
			}
			if got, err := task.Messages(ctx, "call.1"); len(got) != 1 || err != nil {
				t.Errorf("heard %v, %v", got, err)
			}
			answer, err := task.Ask(ctx, messages.InputRequired{Request: "q", Prompt: "?"})
			if string(answer) != "null" || err != nil {
				t.Errorf("the answer is %s, %v", answer, err)
			}
			return nil
		})
		j.Messages = true
		run := start(t, s, j, actors.Options{})
		for range 2 {
			synctest.Wait()
			_, err := run.Send(t.Context(), messages.Said{Content: "stop", Mode: messages.Interrupt})
			noError(t, err)
		}
		expect(t, wait(t, run), messages.Completed, messages.ByRun, "")
	})
}
