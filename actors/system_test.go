package actors_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// open starts a System in the test's bubble and closes it at its end: a goroutine that is left makes the bubble fail.
func open(t *testing.T, config actors.Config) *actors.System {
	t.Helper()
	s, err := actors.New(t.Context(), config)
	noError(t, err)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// idle is how many goroutines a System has for the loops that its journal feeds.
const idle = 4

// job is a job of one task.
func job(run func(ctx context.Context, t *actors.TaskContext) error) actors.Job {
	return actors.Job{Name: "test", Tasks: []actors.Task{{Name: "work", Run: run}}}
}

func start(t *testing.T, s *actors.System, j actors.Job, o actors.Options) *actors.Run {
	t.Helper()
	run, err := s.Start(t.Context(), j, o)
	noError(t, err)
	return run
}

func wait(t *testing.T, run *actors.Run) messages.State {
	t.Helper()
	state, err := run.Wait(t.Context())
	noError(t, err)
	return state
}

func TestRunCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(_ context.Context, task *actors.TaskContext) error {
			return errors.Join(task.Say("answer", "Hel"), task.Say("answer", "lo"), task.Said("answer", "Hello"))
		}), actors.Options{})
		state := wait(t, run)
		answer, _ := state.Stream("answer")
		if state.Status != messages.Completed || state.End.By != messages.ByRun || answer.Text() != "Hello" {
			t.Errorf("%s by %s, answer %q", state.Status, state.End.By, answer.Text())
		}
		again, err := s.State(t.Context(), run.ID())
		if err != nil || again.Seq != state.Seq {
			t.Errorf("State after the end is at %d: %v", again.Seq, err)
		}
	})
}
