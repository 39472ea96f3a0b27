package supervision_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/supervision"
)

// A canceled task tells how what it had begun ended, before its own end and no more often than it has credits.
func TestTaskConcludesAfterItsCancel(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		f := newFamily(t, n)
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
	})
}

func TestAbandonedTaskConcludesNothing(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		f := newFamily(t, n)
		hold, release := block(t)
		task := f.run(1, func(_ context.Context, task *supervision.Routine) error {
			hold(nil)
			return task.Conclude("late")
		})
		task.Abandon()
		release()
		synctest.Wait()
		wantErr(t, f.end(), supervision.ErrAbandoned)
		if len(f.heard()) != 1 {
			t.Errorf("heard %v", f.text())
		}
	})
}
