package supervision

import (
	"runtime"
	"sync/atomic"
)

// maxParked bounds the goroutines that wait for work. They are kept because their stacks have grown.
const maxParked = 64

// turner is what a goroutine of the dispatcher runs: an actor's inbox, or a [Work].
type turner interface {
	turn()
	// resumes reports whether a turn that Goexit ended must run again.
	resumes() bool
}

// dispatcher runs turns on parked goroutines where it can, because a new goroutine must grow its stack anew. It is
// safe for concurrent use.
type dispatcher struct {
	hand   chan turner // unbuffered: only a parked goroutine takes work
	closed atomic.Bool
	parked atomic.Int32
}

// schedule runs the turn on another goroutine.
func (d *dispatcher) schedule(b turner) {
	select {
	case d.hand <- b:
	default:
		launch(func() { d.work(b) })
	}
}

// close ends the parked goroutines, and those that are about to park.
func (d *dispatcher) close() {
	for d.closed.Store(true); d.parked.Load() > 0; {
		select {
		case d.hand <- nil:
		default:
			runtime.Gosched()
		}
	}
}

// work runs turns until there is no more work for a parked goroutine.
func (d *dispatcher) work(b turner) {
	defer func() {
		if b != nil && b.resumes() { // after Goexit, an inbox still believes that its turn is running
			launch(func() { d.work(b) })
		}
	}()
	for b != nil {
		b.turn()
		b = nil // also frees the actor while parked
		b = d.park()
	}
}

// park waits for work. nil means that there will be none.
func (d *dispatcher) park() turner {
	defer d.parked.Add(-1)
	if d.parked.Add(1) > maxParked || d.closed.Load() {
		return nil
	}
	return <-d.hand
}

// Work runs on a goroutine of a node.
type Work interface {
	// Work does the work. It may block: it has the goroutine for itself.
	Work()
	// Crashed is called after a panic or a Goexit of Work, on the same goroutine.
	Crashed(crash *Crash)
}

// Call does the work on another goroutine and returns at once.
func (n *Node) Call(w Work) { n.dispatcher.schedule(call{w}) }

// call makes a turner of a Work.
type call struct{ Work }

func (call) resumes() bool { return false }

// turn implements [turner]. The deferred function itself must look at the stack of the panic.
func (c call) turn() {
	returned := false
	defer func() {
		if !returned {
			c.Crashed(crashOf(recover(), "a call"))
		}
	}()
	c.Work.Work()
	returned = true
}
