package supervision

import (
	"sync"
	"sync/atomic"
)

// maxParked bounds the goroutines that wait for work; each keeps a grown stack, which is the point of it.
const maxParked = 64

// dispatcher runs inboxes on parked goroutines where it can: a fresh one would grow its stack anew at each wake-up.
type dispatcher struct {
	hand   chan *inbox // unbuffered: only a parked worker takes work
	quit   chan struct{}
	once   sync.Once
	parked atomic.Int32
}

func newDispatcher() *dispatcher {
	return &dispatcher{hand: make(chan *inbox), quit: make(chan struct{})}
}

// schedule has the inbox take its turn.
func (d *dispatcher) schedule(b *inbox) {
	select {
	case d.hand <- b:
	default:
		launch(func() { d.work(b) })
	}
}

func (d *dispatcher) close() { d.once.Do(func() { close(d.quit) }) }

func (d *dispatcher) work(b *inbox) {
	defer func() {
		if b != nil { // Goexit: the inbox still believes that its turn is under way
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
func (d *dispatcher) park() *inbox {
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
