package actors_test

import (
	"context"
	"io/fs"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// An error whose own methods panic, such as a nil pointer that is an error, is a crash of its task: the run ends.
func TestErrorsThatPanic(t *testing.T) {
	nils := map[string]error{"messages.Error": (*messages.Error)(nil), "fs.PathError": (*fs.PathError)(nil)}
	for name, nothing := range nils {
		t.Run(name+" thrown", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				throw := func(context.Context, *actors.TaskContext) error { panic(nothing) }
				state := wait(t, start(t, open(t, actors.Config{}), job(throw), actors.Options{}))
				expect(t, state, messages.Failed, messages.BySupervisor, messages.CausePanic)
			})
		})
		for how, task := range map[string]func(context.Context, *actors.TaskContext) error{
			"returned": func(context.Context, *actors.TaskContext) error { return nothing },
			"of a goroutine": func(_ context.Context, task *actors.TaskContext) error {
				task.Go(func(context.Context) error { return nothing })
				return nil
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					state := wait(t, start(t, open(t, actors.Config{}), job(task), actors.Options{}))
					expect(t, state, messages.Failed, messages.BySupervisor, messages.CausePanic)
					if state.End.Task != "work" {
						t.Errorf("failed in %q", state.End.Task)
					}
				})
			})
		}
	}
}

// A key that is used again when its log has expired names another run, also where the State of the first was asked for.
func TestStateOfAKeyUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{Retention: time.Minute})
		for i := range 2 {
			give := func(_ context.Context, task *actors.TaskContext) error { return task.Result(i, false) }
			run := start(t, s, job(give), actors.Options{Key: "k"})
			wait(t, run)
			synctest.Wait() // the journal has it alone
			state, err := s.State(t.Context(), run.ID())
			if err != nil || string(state.End.Result) != strconv.Itoa(i) {
				t.Errorf("run %d has the result %s, %v", i, state.End.Result, err)
			}
			time.Sleep(5 * time.Minute)
		}
	})
}

// "A cursor past the terminal ... gets a reset", also of who follows a tree.
func TestTreeCursorPastTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(nothing), actors.Options{})
		end := wait(t, run).Seq
		for after, want := range map[uint64]messages.Code{end: "", end + 1: messages.CodeReset} {
			var got error
			for _, err := range s.Follow(t.Context(), run.ID(), messages.FollowOptions{After: after, Tree: true}) {
				got = err
			}
			if messages.CodeOf(got) != want {
				t.Errorf("from %d of %d: %v, want %q", after, end, got, want)
			}
		}
	})
}
