package testkit

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Trial is a run with a plan.
type Trial struct {
	Plan Plan
	Run  *actors.Run

	faults *Faults
	system *actors.System

	working atomic.Int64

	mu       sync.Mutex
	id       messages.RunID
	fired    []bool
	canceled bool // what the plan's cancel asks for has happened
	appends  int
	refused  int
}

// Working returns how many of the run's task functions have not returned and are not deaf.
func (t *Trial) Working() int64 { return t.working.Load() }

// poke is a message that makes its receiver's turn fail.
type poke struct {
	trial *Trial
	fault int
}

// IgnoreDeadLetterLogging keeps a late one quiet.
func (*poke) IgnoreDeadLetterLogging() {}

var errInjected = errors.New("injected")

// fire reports whether the fault has not happened before.
func (t *Trial) fire(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.fired[i]
	t.fired[i] = true
	return first
}

// hit counts the cell: the fault happens now, and what its cancel asks for has happened or is on its way.
func (t *Trial) hit(i int) {
	t.mu.Lock()
	counts := t.Plan.Cancel != CancelBefore || t.canceled
	t.mu.Unlock()
	if !counts || i > 0 {
		return
	}
	t.faults.mu.Lock()
	defer t.faults.mu.Unlock()
	t.faults.hits[Cell{t.Plan.Faults[i], t.Plan.Cancel}]++
}

// cancelBefore does, where the fault is the plan's first, what the cancel asks for before and at the moment of the fault.
func (t *Trial) cancelBefore(i int) {
	if i > 0 {
		return
	}
	switch t.Plan.Cancel {
	case CancelBefore:
		if t.Plan.Faults[i].Phase != Stopping && t.Plan.Faults[i].Phase != Stopped {
			t.cancel()
		}
	case CancelWith:
		go t.cancel()
	case CancelAfter:
		time.AfterFunc(time.Millisecond, t.cancel)
	}
}

// cancel returns when the run is canceling, has ended, or cannot answer.
func (t *Trial) cancel() {
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	if t.system.Cancel(ctx, t.id, "tester", "the plan says so") != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.canceled = true
}

// turn fails the turn of the actor that it is called in.
func (t *Trial) turn(i int) {
	t.hit(i)
	f := t.faults
	switch t.Plan.Faults[i].Failure {
	case TurnPanic:
		panic(errInjected)
	case TurnPanicNil:
		panic(nil)
	case TurnGoexit:
		runtime.Goexit()
	case TurnBlock:
		f.everBlocked.Add(1)
		f.blocked.Add(1)
		<-f.release
		f.blocked.Add(-1)
	default:
		t.byPID(i)
	}
}

// reach makes the fault happen to an actor from outside.
func (t *Trial) reach(i int) {
	if !t.fire(i) {
		return
	}
	t.cancelBefore(i)
	switch t.Plan.Faults[i].Failure {
	case Stop, Poison, Flood:
		t.hit(i)
		t.byPID(i)
	default:
		t.system.Node().Root().Send(t.system.PID(t.id, t.target(i)), &poke{t, i})
	}
}

// target returns the actor's name as System.PID wants it.
func (t *Trial) target(i int) string {
	if name := t.Plan.Faults[i].Actor; name != RunActor {
		return name
	}
	return ""
}

func (t *Trial) byPID(i int) {
	root, pid := t.system.Node().Root(), t.system.PID(t.id, t.target(i))
	switch t.Plan.Faults[i].Failure {
	case Stop:
		root.Stop(pid)
	case Poison:
		root.Poison(pid)
	case Flood:
		for range 300 {
			root.Send(pid, &poke{})
		}
	}
}

// work is a task's function with the plan's faults in it.
func (t *Trial) work(ctx context.Context, c *actors.TaskContext, task actors.Task) error {
	t.working.Add(1)
	defer t.working.Add(-1)
	t.atWork(task.Name, c.Attempt())
	err := task.Run(ctx, c)
	if i := t.failureOf(task.Name, c.Attempt()); i >= 0 && t.fire(i) {
		t.cancelBefore(i)
		t.hit(i)
		return t.fail(ctx, c, i)
	}
	if c.Attempt() == 1 && ctx.Err() == nil && t.retries(task.Name) {
		return Step{Do: Retry}.fail(ctx, c)
	}
	return err
}

// atWork makes happen what is to happen while the task works. It stays a moment, whatever the context says, so that it
// does.
func (t *Trial) atWork(task string, attempt int) {
	if attempt > 1 {
		return
	}
	for i, f := range t.Plan.Faults {
		late := f.Phase == Stopping || f.Phase == Stopped
		switch {
		case late && i == 0 && t.Plan.Cancel == CancelBefore && task == Write:
			t.cancel()
		case f.Failure == None && f.Actor == task:
			t.fire(i)
			t.cancelBefore(i)
			t.hit(i)
		case f.Phase == Phase(task) && !f.ofWork():
			t.reach(i)
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (f Fault) ofWork() bool { return slices.Contains(WorkFailures(), f.Failure) }

// failureOf returns the fault that the task's attempt is to fail with, or -1.
func (t *Trial) failureOf(task string, attempt int) int {
	for i, f := range t.Plan.Faults {
		if f.Actor == task && f.ofWork() && f.Failure != None {
			if attempt--; attempt == 0 {
				return i
			}
		}
	}
	return -1
}

// retries reports whether a fault waits for the task to be retried, and makes it happen while it is.
func (t *Trial) retries(task string) bool {
	waits := false
	for i, f := range t.Plan.Faults {
		if f.Phase == Retrying && (f.Actor == task || f.Actor == RunActor && task == Analyze) {
			waits = true
			time.AfterFunc(10*time.Millisecond, func() { t.reach(i) })
		}
	}
	return waits
}

func (t *Trial) fail(ctx context.Context, c *actors.TaskContext, i int) error {
	fault := t.Plan.Faults[i]
	switch fault.Failure {
	case DeltasPanic:
		for range 20 {
			_ = c.Say("last words of "+fault.Actor, "x") // a cancelled task panics all the same
		}
		panic(errInjected)
	case Failure(Deaf):
		f := t.faults
		f.everDeaf.Add(1)
		f.deaf.Add(1)
		defer f.deaf.Add(-1)
		t.working.Add(-1)
		defer t.working.Add(1)
		<-f.release
		return nil
	default:
		return Step{Do: Action(fault.Failure)}.fail(ctx, c)
	}
}
