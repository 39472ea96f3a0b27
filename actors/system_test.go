package actors_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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

func TestRunsAreListedUntilTheyAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{Retention: time.Hour, WallClock: 3 * time.Hour, Stall: 3 * time.Hour})
		lists := func(when string, q messages.Query, want ...string) {
			t.Helper()
			list, err := s.List(t.Context(), q)
			noError(t, err)
			var got []string
			for _, run := range list {
				got = append(got, fmt.Sprintf("%s %s", run.Labels["name"], run.Status))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		release := make(chan struct{})
		begin := func(name, principal string, work func(context.Context, *actors.TaskContext) error) *actors.Run {
			time.Sleep(time.Second)
			run := start(t, s, job(work), actors.Options{Principal: principal, Labels: map[string]string{"name": name}})
			synctest.Wait()
			return run
		}
		long := func(context.Context, *actors.TaskContext) error { <-release; return nil }
		short := func(context.Context, *actors.TaskContext) error { return nil }
		begin("long", "ann", long)
		begin("short", "ann", short)
		begin("foreign", "bob", short)
		begin("nobody's", "", short)
		ann := messages.Query{Principal: "ann"}
		lists("both", ann, "short completed", "long processing")
		lists("the principal is exact", messages.Query{}, "nobody's completed")
		lists("by status", messages.Query{Principal: "ann", Status: []messages.Status{messages.Processing}}, "long processing")
		time.Sleep(2 * time.Hour)
		lists("after the retention", ann, "long processing")
		close(release)
		synctest.Wait()
		lists("ended", ann, "long completed")
		time.Sleep(2 * time.Hour)
		lists("all forgotten", ann)
	})
}
