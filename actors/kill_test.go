package actors_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

// dead fails the test while an actor of the run is alive, or a goroutine of its tasks.
func dead(t *testing.T, s *actors.System, run *actors.Run) {
	t.Helper()
	synctest.Wait()
	for _, name := range append(faultplan.Tasks(), "") {
		if pid := s.PID(run.ID(), name); s.Node().Alive(pid) {
			t.Errorf("%s is alive", pid.Id)
		}
	}
	if n := s.Node().Counters(); n.Tasks != idle || n.AbandonedTasks+n.AbandonedActors != 0 {
		t.Errorf("the counters say %+v", n)
	}
}

// A run actor killed after the cancel was accepted: the supervisor, too, says that the run was canceled, and not before
// its work has ended.
func TestKillRunWhileCanceling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{})
		run := start(t, s, job(func(ctx context.Context, _ *actors.TaskContext) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil
		}), actors.Options{})
		synctest.Wait()
		begin := time.Now()
		noError(t, run.Cancel(t.Context(), "enough"))
		s.Node().Root().Stop(s.PID(run.ID(), ""))
		expect(t, wait(t, run), messages.Canceled, messages.BySupervisor, messages.CauseCanceledByUser)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("the last word took %s", took)
		}
		dead(t, s, run)
	})
}

// Work that goes on for a while after its actor was killed holds the last word back until it has ended, and no longer.
func TestKillWaitsForWork(t *testing.T) {
	for _, c := range []struct {
		works, takes time.Duration
		abandoned    int64
	}{{3 * time.Second, 3 * time.Second, 0}, {time.Hour, 5 * time.Second, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, actors.Config{})
			run := start(t, s, job(func(context.Context, *actors.TaskContext) error {
				time.Sleep(c.works)
				return nil
			}), actors.Options{})
			synctest.Wait()
			begin := time.Now()
			s.Node().Root().Stop(s.PID(run.ID(), "work"))
			expect(t, wait(t, run), messages.Failed, messages.BySupervisor, messages.CauseError)
			if took, n := time.Since(begin), s.Stats().AbandonedTasks; took != c.takes || n != c.abandoned {
				t.Errorf("the last word took %s, want %s; %d abandoned, want %d", took, c.takes, n, c.abandoned)
			}
			time.Sleep(2 * time.Hour)
			if n := s.Node().Counters().Tasks; n != idle {
				t.Errorf("%d goroutines are left", n-idle)
			}
		})
	}
}

// Where a crash is retried, the next attempt waits for the work of the one before: its actor crashed without it.
func TestAttemptsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crashed := false // the task actor's own
		s := open(t, actors.Config{Inject: func(p actors.Point) {
			if _, ok := p.Message.(crash); ok && p.Actor == "work" && !crashed {
				crashed = true
				panic("as the test asked")
			}
		}})
		var working, most atomic.Int64
		j := job(func(_ context.Context, task *actors.TaskContext) error {
			most.Store(max(most.Load(), working.Add(1)))
			defer working.Add(-1)
			if task.Attempt() == 1 {
				s.Node().Root().Send(s.PID(task.RunID(), "work"), crash{})
			}
			time.Sleep(3 * time.Second)
			return nil
		})
		j.Tasks[0].Policy.RetryCrash = true
		run := start(t, s, j, actors.Options{})
		state := wait(t, run)
		expect(t, state, messages.Completed, messages.ByRun, "")
		if task, _ := state.Task("work"); task.Attempt != 2 || most.Load() != 1 {
			t.Errorf("%d attempts, %d at once", task.Attempt, most.Load())
		}
		dead(t, s, run)
	})
}

type crash struct{}

// "Whoever ends a parent settles every child that its log names first": also a child that has its terminal, of which the
// parent's actor never took note.
func TestParentCrashesAsItsChildEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, actors.Config{Inject: func(p actors.Point) {
			if p.Actor == "run" && fmt.Sprintf("%T", p.Message) == "*actors.childOver" {
				panic("as the test asked")
			}
		}})
		run := start(t, s, job(func(ctx context.Context, c *actors.TaskContext) error {
			_, err := c.Start(ctx, job(func(context.Context, *actors.TaskContext) error { return nil }), actors.Options{})
			<-ctx.Done()
			return err
		}), actors.Options{})
		state := wait(t, run)
		expect(t, state, messages.Failed, messages.BySupervisor, messages.CausePanic)
		if len(state.Children) != 1 || state.Children[0].Status != messages.Completed {
			t.Errorf("the children are %+v", state.Children)
		}
		dead(t, s, run)
	})
}

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
			more = task.FinishText("answer", "too late")
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
