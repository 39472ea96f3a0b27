package actors

import (
	"cmp"
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/supervision"
)

// credits is how many of a task's events may be under way to its run.
const credits = 8

// taskActor is the child of a run that answers for one task. The work itself is in a goroutine tied to this
// incarnation; its panics are thrown again here, where supervision sees them.
type taskActor struct {
	system *System
	run    *activeRun
	now    *attempt
}

// begin has the task actor start an attempt.
type begin struct{ attempt *attempt }

func (begin) IgnoreDeadLetterLogging()    {}
func (returned) IgnoreDeadLetterLogging() {}

var errActorStopped = errors.New("the task's actor was stopped")

// Receive never blocks.
func (a *taskActor) Receive(c actor.Context) {
	if a.system.config.Inject != nil {
		a.system.inject(a.run, taskName(c), c.Message(), func(record emission) {
			c.Send(c.Parent(), &supervision.TaskMessage{Message: &record})
		})
	}
	switch m := c.Message().(type) {
	case *begin:
		a.start(c, m.attempt)
	case *supervision.TaskEnded:
		a.ended(c, m)
	case *actor.Stopping:
		if a.now != nil {
			a.now.cancel(errActorStopped)
		}
	}
}

func taskName(c actor.Context) string { return c.Self().Id[len(c.Parent().Id)+1:] }

func (a *taskActor) start(c actor.Context, now *attempt) {
	a.now = now
	work := a.system.node.Go(context.Background(), now.task.Name, c.Self(), c.Parent(), credits,
		func(ctx context.Context, w *supervision.Task) error {
			now.work.CompareAndSwap(nil, w)
			t := &TaskContext{attempt: now, work: w}
			if a.system.config.Inject != nil {
				return t.injected(ctx)
			}
			return heard(now.task.Run(ctx, t))
		})
	now.work.Store(work)
	if cause := a.run.cause(); cause != nil {
		work.Cancel(cause)
	}
}

// heard has a task's error say what it can say, so that its methods crash, if they do, in the task: a nil pointer that
// is an error is the usual case. Its frame must not be that of every task: very many may wait within 2 kB of stack.
//
//go:noinline
func heard(err error) error {
	if err != nil {
		supervision.Policy{}.Decide(supervision.Failure{Attempt: 1, Err: err}, 0)
	}
	return err
}

// injected does the work with the points of a test around it.
func (t *TaskContext) injected(ctx context.Context) error {
	s := t.attempt.run.system
	if err := s.injectWork(t, WorkBegins); err != nil {
		return err
	}
	err := heard(t.attempt.task.Run(ctx, t))
	return cmp.Or(s.injectWork(t, WorkReturns), err)
}

func (a *taskActor) ended(c actor.Context, m *supervision.TaskEnded) {
	if a.now == nil || a.now.work.Load() != m.Task {
		return
	}
	if crash, ok := errors.AsType[*supervision.Crash](m.Err); ok {
		panic(crash)
	}
	c.Send(c.Parent(), &returned{a.now, m.Err})
}
