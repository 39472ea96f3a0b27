package actors_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// "Close under load gives every memory run its terminal, and blames what is to blame."
func TestCloseUnderLoad(t *testing.T) {
	j := journal.NewMemory()
	s, err := actors.New(t.Context(), actors.Config{Journal: j, Drain: 10 * time.Millisecond, MaxRuns: 1 << 20,
		CancelSoft: 100 * time.Millisecond, CancelHard: 200 * time.Millisecond})
	noError(t, err)
	var started sync.Map
	var starters sync.WaitGroup
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	for range 8 {
		starters.Go(func() {
			for n := 0; ; n++ {
				run, err := s.Start(context.Background(), []actors.Job{job(nothing), job(heed)}[n%2], actors.Options{})
				if err != nil {
					return
				}
				started.Store(run.ID(), true)
				if n == 500 {
					begin()
				}
			}
		})
	}
	<-began
	err = s.Close(context.Background())
	starters.Wait()
	if err != nil && messages.CodeOf(err) != messages.CauseShutdown {
		t.Errorf("Close: %v", err)
	}
	open, archive := 0, journal.NewArchive(j)
	started.Range(func(id, _ any) bool {
		state, err := archive.State(context.Background(), id.(messages.RunID))
		if err != nil || !state.Status.IsEnded() {
			open++
			t.Errorf("%s is %s: %v", id, state.Status, err)
		}
		return open < 20
	})
	if errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

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
