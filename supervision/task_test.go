package supervision_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/supervision"
)

// text returns what the family heard, as text.
func (f *family) text() []string {
	var text []string
	for _, h := range f.heard() {
		switch m := h.(type) {
		case *supervision.TaskMessage:
			text = append(text, fmt.Sprint(m.Message))
		case *supervision.TaskEnded:
			text = append(text, fmt.Sprintf("end: %v", m.Err))
		default:
			text = append(text, fmt.Sprint(m))
		}
	}
	return text
}

// end returns the error of the one TaskEnded, which must be the last of all messages.
func (f *family) end() error {
	f.t.Helper()
	heard := f.heard()
	for i, h := range heard {
		if m, ok := h.(*supervision.TaskEnded); ok {
			if i != len(heard)-1 {
				f.t.Fatalf("heard %v: the end is not the last", f.text())
			}
			return m.Err
		}
	}
	f.t.Fatalf("heard %v: no end", f.text())
	return nil
}

// run starts a task whose owner and sink are the family.
func (f *family) run(credits int, fn func(context.Context, *supervision.Routine) error) *supervision.Routine {
	t := f.n.Go(f.t.Context(), "analyze", f.pid, f.pid, credits, fn)
	synctest.Wait()
	return t
}

func TestTaskCreditsBoundTheMailbox(t *testing.T) {
	for credits, bound := range map[int]int{-1: 1, 0: 1, 1: 1, 3: 3} {
		inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			task := f.run(credits, func(_ context.Context, task *supervision.Routine) error {
				for i := range 10 {
					if err := task.Send(i); err != nil {
						return err
					}
				}
				return nil
			})
			for acked := range 10 - bound {
				if len(f.heard()) != acked+bound {
					t.Fatalf("%d credits, %d acknowledged: heard %v", credits, acked, f.text())
				}
				task.Ack()
				synctest.Wait()
			}
			if err := f.end(); err != nil || len(f.heard()) != 11 {
				t.Errorf("end %v, heard %v", err, f.text())
			}
			task.Ack()
			for range credits + 2 {
				task.Ack() // too many do no harm
			}
			wantCounters(t, n, supervision.Counters{})
		})(t)
	}
}

func TestTaskEndsAsItsGoroutinesDo(t *testing.T) {
	type fn = func(context.Context, *supervision.Routine) error
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	canceled := fmt.Errorf("other: %w", context.Canceled)
	in := func(child func(context.Context) error) fn { // a child of a task that waits
		return func(ctx context.Context, task *supervision.Routine) error { task.Go(child); return wait(ctx) }
	}
	for name, c := range map[string]struct {
		fn    fn
		want  error
		crash bool
	}{
		"nil":          {func(context.Context, *supervision.Routine) error { return nil }, nil, false},
		"error":        {func(context.Context, *supervision.Routine) error { return errBroken }, errBroken, false},
		"another's":    {func(context.Context, *supervision.Routine) error { return canceled }, canceled, false},
		"panic":        {func(context.Context, *supervision.Routine) error { throwError(nil); return nil }, errBroken, true},
		"goexit":       {func(context.Context, *supervision.Routine) error { throwGoexit(nil); return nil }, supervision.ErrGoexit, true},
		"nil map":      {func(context.Context, *supervision.Routine) error { throwNilMap(nil); return nil }, nil, true},
		"panic(nil)":   {func(context.Context, *supervision.Routine) error { throwNil(nil); return nil }, nil, true},
		"child error":  {in(func(context.Context) error { return errBroken }), errBroken, false},
		"child panic":  {in(func(context.Context) error { throwError(nil); return nil }), errBroken, true},
		"child goexit": {in(func(context.Context) error { throwGoexit(nil); return nil }), supervision.ErrGoexit, true},
		"grandchild panic": {func(ctx context.Context, task *supervision.Routine) error {
			task.Go(func(ctx context.Context) error {
				task.Go(func(context.Context) error { throwError(nil); return nil })
				return wait(ctx)
			})
			return nil
		}, errBroken, true},
		"crash after the first error": {func(ctx context.Context, task *supervision.Routine) error {
			task.Go(func(ctx context.Context) error { _ = wait(ctx); panic(errBroken) })
			return errors.New("first")
		}, errBroken, true},
		"error after the crash": {func(ctx context.Context, task *supervision.Routine) error {
			task.Go(func(ctx context.Context) error { _ = wait(ctx); return errors.New("second") })
			panic(errBroken)
		}, errBroken, true},
	} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			task, err := f.run(1, c.fn), f.end()
			if c.want != nil {
				wantErr(t, err, c.want)
			}
			if c.crash {
				if crash := wantCrash(t, err); crash.During != "analyze" || len(crash.Stack) == 0 {
					t.Errorf("crash %+v", crash)
				}
			} else if c.want == nil && err != nil {
				t.Errorf("error %v, want none", err)
			}
			if task.Running() {
				t.Error("the task has not ended")
			}
			task.Abandon() // of one that ended is none
			wantCounters(t, n, supervision.Counters{})
		}))
	}
}

func TestTaskEndsWithItsLastGoroutine(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		task := f.run(1, func(_ context.Context, task *supervision.Routine) error {
			task.Go(func(context.Context) error { time.Sleep(time.Hour); return task.Send("last") })
			return nil
		})
		if wantHeard(t, f); !task.Running() {
			t.Error("the task has ended before its goroutine")
		}
		wantCounters(t, n, supervision.Counters{Tasks: 1})
		pass(time.Hour)
		if got := f.text(); len(got) != 2 || got[0] != "last" {
			t.Errorf("heard %v", got)
		}
		if err := f.end(); err != nil {
			t.Error(err)
		}
		task.Go(func(context.Context) error { t.Error("ran after the end"); return nil })
	})(t)
}

func TestTaskCancelIsPrompt(t *testing.T) {
	errUser := errors.New("the user")
	for name, wait := range map[string]func(context.Context, *supervision.Routine) error{
		"in Send": func(_ context.Context, task *supervision.Routine) error {
			return errors.Join(task.Send(1), task.Send(2))
		},
		"on the context": func(ctx context.Context, _ *supervision.Routine) error {
			<-ctx.Done()
			return fmt.Errorf("GET /: %w", ctx.Err())
		},
		"before Send": func(ctx context.Context, task *supervision.Routine) error { <-ctx.Done(); return task.Send(1) },
	} {
		t.Run(name, inFamily(func(t *testing.T, n *supervision.Node, f *family) {
			task := f.run(1, wait)
			task.Cancel(errUser)
			task.Cancel(errBroken)
			synctest.Wait()
			wantErr(t, f.end(), errUser)
			if len(f.heard()) > 2 {
				t.Errorf("heard %v", f.text())
			}
		}))
	}
}

func TestTaskHearsOfItsContextsEnd(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		n.Go(ctx, "slow", f.pid, f.pid, 1, func(ctx context.Context, _ *supervision.Routine) error {
			<-ctx.Done()
			return ctx.Err()
		})
		pass(time.Minute)
		wantErr(t, f.end(), context.DeadlineExceeded)
	})(t)
}

func TestTaskAbandonedIsCountedOnce(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		ended := 0
		task := f.run(1, func(ctx context.Context, task *supervision.Routine) error {
			hold(nil)
			return errors.Join(task.Send("late"), task.Conclude("late"))
		})
		task.OnEnd(func() { ended++ })
		task.Abandon()
		task.Abandon()
		wantCounters(t, n, supervision.Counters{Tasks: 1, AbandonedTasks: 1})
		if ended != 0 || !task.Running() {
			t.Error("ended while it runs")
		}
		release()
		synctest.Wait()
		wantErr(t, f.end(), supervision.ErrAbandoned)
		task.OnEnd(func() { ended++ })
		if len(f.heard()) != 1 || ended != 2 {
			t.Errorf("heard %v, OnEnd ran %d times", f.text(), ended)
		}
		wantCounters(t, n, supervision.Counters{AbandonedTasks: 1})
	})(t)
}

// A later actor with the owner's PID hears nothing of the task.
func TestTaskIsTiedToAnIncarnation(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		owner := f.startFunc("owner", nil)
		n.Go(t.Context(), "old", owner, owner, 1, func(_ context.Context, task *supervision.Routine) error {
			hold(nil)
			return task.Send("late")
		})
		gone := n.Go(t.Context(), "nobody's", n.System().NewLocalPID("x"), n.System().NewLocalPID("x"), 1,
			func(_ context.Context, task *supervision.Routine) error { return task.Send("lost") })
		f.ask("owner")
		heard := 0
		f.startFunc("owner", func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *supervision.TaskMessage, *supervision.TaskEnded:
				heard++
			}
		})
		release()
		synctest.Wait()
		if heard != 0 || gone.Running() {
			t.Errorf("heard %d messages of another's task", heard)
		}
	})(t)
}

// A canceled task tells how what it had begun ended, before its own end and no more often than it has credits.
func TestTaskConcludesAfterItsCancel(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		var errs []error
		task := f.run(2, func(ctx context.Context, task *supervision.Routine) error {
			errs = append(errs, task.Conclude("before"))
			<-ctx.Done()
			errs = append(errs, task.Send("never"))
			for _, word := range []string{"one", "two", "three"} {
				errs = append(errs, task.Conclude(word))
			}
			return ctx.Err()
		})
		task.Cancel(errBroken)
		synctest.Wait()
		if want := []error{nil, errBroken, nil, nil, errBroken}; !slices.Equal(errs, want) {
			t.Errorf("the task was told %v, want %v", errs, want)
		}
		if err := f.end(); !errors.Is(err, errBroken) {
			t.Errorf("the task ended with %v", err)
		}
		if got, want := f.text(), []string{"before", "one", "two", "end: broken"}; !slices.Equal(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
		for _, h := range f.heard() {
			if m, ok := h.(*supervision.TaskMessage); ok {
				m.Task.Ack() // of one without a credit as well
			}
		}
	})(t)
}
