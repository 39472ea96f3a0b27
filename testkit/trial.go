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
)

// Trial is a run with a plan.
type Trial struct {
	Plan Plan
	// Labels make a run the trial's, whoever starts it.
	Labels map[string]string
	// Run is the run that [Faults.Start] has started.
	Run *actors.Run

	faults *Faults

	mu       sync.Mutex
	fired    []bool
	canceled bool // what the plan's cancel asks for has happened
	appends  int
	refused  int
}

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
func (t *Trial) cancelBefore(i int, p actors.Point) {
	if i > 0 {
		return
	}
	switch t.Plan.Cancel {
	case CancelBefore:
		if t.Plan.Faults[i].Phase != Stopping && t.Plan.Faults[i].Phase != Stopped {
			t.cancel(p)
		}
	case CancelWith:
		go t.cancel(p)
	case CancelAfter:
		time.AfterFunc(time.Millisecond, func() { t.cancel(p) })
	}
}

// cancel returns when the run is canceling, has ended, or cannot answer.
func (t *Trial) cancel(p actors.Point) {
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	if p.System.Cancel(ctx, p.Run, "tester", "the plan says so") != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.canceled = true
}

// reach makes the fault happen to an actor in a turn of its own, wherever the caller is. One that is gone is not reached.
func (t *Trial) reach(i int, p actors.Point) {
	if !t.fire(i) {
		return
	}
	t.cancelBefore(i, p)
	if slices.Contains(PIDFailures(), t.Plan.Faults[i].Failure) {
		t.hit(i)
	}
	target := t.Plan.Faults[i].Actor
	if target == RunActor {
		target = ""
	}
	p.System.Node().Root().Send(p.System.PID(p.Run, target), &poke{t, i})
}

// strike makes the fault happen to the actor whose turn or whose work is at the point, and has its run say so.
func (t *Trial) strike(p actors.Point, i int) {
	f := t.Plan.Faults[i]
	if !slices.Contains(PIDFailures(), f.Failure) || f.Phase == Starting {
		t.hit(i)
	}
	p.Record(string(f.Failure))
	if p.Task != nil {
		t.fail(p, f)
		return
	}
	root, self := p.System.Node().Root(), p.System.PID(p.Run, "")
	if f.Actor != RunActor {
		self = p.System.PID(p.Run, f.Actor)
	}
	switch f.Failure {
	case TurnPanicNil:
		panic(nil)
	case TurnGoexit:
		runtime.Goexit()
	case TurnBlock:
		t.faults.block(&t.faults.blocked, &t.faults.everBlocked)
	case Stop:
		root.Stop(self)
	case Poison:
		root.Poison(self)
	case Flood:
		for range 300 {
			root.Send(self, &poke{})
		}
	default:
		panic(errInjected)
	}
}

// block waits for the release.
func (f *Faults) block(now, ever *atomic.Int64) {
	ever.Add(1)
	now.Add(1)
	<-f.release
	now.Add(-1)
}

// begins makes happen what is to happen while the task works. It stays a moment, whatever the context says, so that it
// does.
func (t *Trial) begins(p actors.Point) {
	if p.Attempt > 1 {
		return
	}
	for i, f := range t.Plan.Faults {
		late := f.Phase == Stopping || f.Phase == Stopped
		switch {
		case late && i == 0 && t.Plan.Cancel == CancelBefore && p.Actor == Write:
			t.cancel(p)
		case f.Failure == None && f.Actor == p.Actor:
			t.fire(i)
			t.cancelBefore(i, p)
			t.hit(i)
		case f.Phase == Phase(p.Actor) && !f.ofWork():
			t.reach(i, p)
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// returns has the task's attempt fail that the plan has a failure for.
func (t *Trial) returns(p actors.Point) {
	if i := t.failureOf(p); i >= 0 && t.fire(i) {
		t.cancelBefore(i, p)
		t.strike(p, i)
		return
	}
	if p.Attempt == 1 && p.Context.Err() == nil && t.retries(p) {
		p.Fail(Step{Do: Retry}.fail(p.Context, p.Task))
	}
}

func (f Fault) ofWork() bool { return slices.Contains(WorkFailures(), f.Failure) }

// failureOf returns the fault that the task's attempt is to fail with, or -1.
func (t *Trial) failureOf(p actors.Point) int {
	attempt := p.Attempt
	for i, f := range t.Plan.Faults {
		if f.Actor == p.Actor && f.Phase == Phase(f.Actor) && f.ofWork() && f.Failure != None {
			if attempt--; attempt == 0 {
				return i
			}
		}
	}
	return -1
}

// retries reports whether a fault waits for the task to be retried, and makes it happen while it is.
func (t *Trial) retries(p actors.Point) bool {
	waits := false
	for i, f := range t.Plan.Faults {
		if f.Phase == Retrying && (f.Actor == p.Actor || f.Actor == RunActor && p.Actor == Analyze) {
			waits = true
			time.AfterFunc(10*time.Millisecond, func() { t.reach(i, p) })
		}
	}
	return waits
}

// fail fails a task's work.
func (t *Trial) fail(p actors.Point, f Fault) {
	switch f.Failure {
	case DeltasPanic:
		for range 20 {
			_ = p.Task.Say("last words of "+f.Actor, "x") // a cancelled task panics all the same
		}
		panic(errInjected)
	case Failure(Deaf):
		t.faults.block(&t.faults.deaf, &t.faults.everDeaf)
	default:
		if err := (Step{Do: Action(f.Failure), Text: errInjected.Error()}).fail(p.Context, p.Task); err != nil {
			p.Fail(err)
		}
	}
}
