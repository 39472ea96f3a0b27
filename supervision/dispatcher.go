package supervision

import (
	"sync"
	"sync/atomic"
)

const (
	// maxParked bounds the goroutines that wait for work; each keeps a grown stack, which is the point of it.
	maxParked = 64
	// throughput is how many messages an actor handles before it yields, as in the library.
	throughput = 300
)

// dispatcher runs mailboxes on parked goroutines where it can: a fresh one would grow its stack anew at each wake-up.
type dispatcher struct {
	hand   chan func() // unbuffered: only a parked worker takes work
	quit   chan struct{}
	once   sync.Once
	parked atomic.Int32
}

func newDispatcher() *dispatcher {
	return &dispatcher{hand: make(chan func()), quit: make(chan struct{})}
}

// Schedule implements [actor.Dispatcher].
func (d *dispatcher) Schedule(run func()) {
	select {
	case d.hand <- run:
	default:
		launch(func() { d.work(run) })
	}
}

// Throughput implements [actor.Dispatcher].
func (d *dispatcher) Throughput() int { return throughput }

func (d *dispatcher) close() { d.once.Do(func() { close(d.quit) }) }

func (d *dispatcher) work(run func()) {
	defer func() {
		if run != nil { // Goexit: the mailbox still believes that it is running
			launch(func() { d.work(run) })
		}
	}()
	for run != nil {
		run()
		run = nil // also lets go of the actor while parked
		run = d.park()
	}
}

// park waits for work; nil means that there will be none.
func (d *dispatcher) park() func() {
	defer d.parked.Add(-1)
	if d.parked.Add(1) > maxParked {
		return nil
	}
	select {
	case run := <-d.hand:
		return run
	case <-d.quit:
		return nil
	}
}
