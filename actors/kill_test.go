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
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/supervision/fault"
	"github.com/seed889630bf/lastword/testkit"
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

// injected counts the records of the point in the log.
func injected(t *testing.T, run *actors.Run, p fault.Point) (n int) {
	t.Helper()
	events, err := readAll(run, 0)
	noError(t, err)
	noError(t, testkit.CheckLog(0, events))
	for _, e := range events {
		if f, ok := e.Body.(messages.FaultInjected); ok && f.Fault == string(p) {
			n++
		}
	}
	return n
}

// Each point of the runtime and of the journal fires in a run, which says so and ends as the table says.
func TestFaultPoints(t *testing.T) {
	const second = messages.Duration(time.Second)
	ok := struct {
		status messages.Status
		cause  messages.Code
	}{messages.Completed, ""}
	failed := ok
	failed.status, failed.cause = messages.Failed, messages.CauseInjected
	lost, never := failed, failed
	lost.cause, never.cause = messages.CauseNodeLost, messages.CauseJournalUnavailable
	for _, c := range []struct {
		rule fault.Rule
		want any
	}{
		{fault.Rule{Point: fault.TaskError}, failed},
		{fault.Rule{Point: fault.TaskError, Count: 1, At: "text.delta"}, ok}, // it is retried
		{fault.Rule{Point: fault.TaskPanic, At: actors.WorkReturns}, failed},
		{fault.Rule{Point: fault.TaskGoexit, Task: "a"}, failed},
		{fault.Rule{Point: fault.TaskHang}, failed},
		{fault.Rule{Point: fault.TaskHang, For: second, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalSlow, For: 5 * second, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalFull, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalLost, Count: 1}, ok},
		{fault.Rule{Point: fault.JournalLie, Count: 1}, lost},
		{fault.Rule{Point: fault.JournalEnd, Count: 1}, never},
		{fault.Rule{Point: fault.NodePause, Count: 1}, ok},
	} {
		t.Run(string(c.rule.Point), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				board := new(fault.Board)
				s := open(t, actors.Config{Faults: board})
				testkit.Arm(t, board, c.rule)
				talk := job(chatter)
				talk.Tasks[0].Name, talk.Tasks[0].Policy = "a", supervision.Policy{Attempts: 2}
				run := start(t, s, talk, actors.Options{})
				end := checkLimit(t, run, 10*time.Minute)
				got := ok
				if got.status = end.Status; end.End.Error != nil {
					got.cause = end.End.Cause
				}
				if got != c.want {
					t.Errorf("ended as %+v, want %+v: %v", got, c.want, end.End.Error)
				}
				if n := injected(t, run, c.rule.Point); n == 0 || c.rule.Count > 0 && n != c.rule.Count {
					t.Errorf("the log has %d records", n)
				}
			})
		})
	}
}
