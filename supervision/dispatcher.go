package supervision

import (
	"sync"
	"sync/atomic"
)

// maxParked bounds the goroutines that wait for work; each keeps a grown stack, which is the point of it.
const maxParked = 64

// turner is what a warm goroutine does: an actor's inbox, or a [Work].
type turner interface {
	turn()
	// resumes says whether a turn that was ended by Goexit is taken again.
	resumes() bool
}

// dispatcher takes turns on parked goroutines where it can: a fresh one would grow its stack anew at each wake-up.
type dispatcher struct {
	hand   chan turner // unbuffered: only a parked worker takes work
	quit   chan struct{}
	once   sync.Once
	parked atomic.Int32
}

func newDispatcher() *dispatcher {
	return &dispatcher{hand: make(chan turner), quit: make(chan struct{})}
}

// schedule has b take its turn.
func (d *dispatcher) schedule(b turner) {
	select {
	case d.hand <- b:
	default:
		launch(func() { d.work(b) })
	}
}

func (d *dispatcher) close() { d.once.Do(func() { close(d.quit) }) }

func (d *dispatcher) work(b turner) {
	defer func() {
		if b != nil && b.resumes() { // Goexit: an inbox still believes that its turn is under way
			launch(func() { d.work(b) })
		}
	}()
	for b != nil {
		b.turn()
		b = nil // also lets go of the actor while parked
		b = d.park()
	}
}

// park waits for work; nil means that there will be none.
func (d *dispatcher) park() turner {
	defer d.parked.Add(-1)
	if d.parked.Add(1) > maxParked {
		return nil
	}
	select {
	case b := <-d.hand:
		return b
	case <-d.quit:
		return nil
	}
}
