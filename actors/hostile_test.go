package actors_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/synctest"

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
