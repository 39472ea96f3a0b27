package actors

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// observer passes milestones on to Config.Observe, one at a time and in a goroutine of its own: a function that blocks
// or panics costs no run anything.
type observer struct {
	tell func(messages.Event)
	node *supervision.Node
	log  *zap.Logger

	mu      sync.Mutex // a leaf: it is taken under a log's mu
	waiting []messages.Event
	busy    bool
	idle    chan struct{} // closed when nothing waits any more, if somebody waits for that
	missed  bool          // there was no room for some
}

// mostObserved is how many milestones may wait for Observe. It is not told of more.
const mostObserved = 1 << 16

// add leaves a milestone, and reports whether the observer must be roused, with the node's Call.
func (o *observer) add(e messages.Event) (rouse bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == mostObserved {
		o.missed = true
		return false
	}
	o.waiting = append(o.waiting, e.Unshared())
	rouse, o.busy = !o.busy, true
	return rouse
}

// Work implements [supervision.Work].
func (o *observer) Work() {
	for {
		e, missed, more := o.next()
		if missed {
			o.log.Error("Observe was not told of some milestones: it takes them too slowly", zap.Int("waiting", mostObserved))
		}
		if !more {
			return
		}
		o.tell(e)
	}
}

func (o *observer) next() (e messages.Event, missed, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	missed, o.missed = o.missed, false
	if len(o.waiting) == 0 {
		o.waiting, o.busy = nil, false
		if o.idle != nil {
			close(o.idle)
			o.idle = nil
		}
		return e, missed, false
	}
	e, o.waiting = o.waiting[0], o.waiting[1:]
	return e, missed, true
}

func (o *observer) Crashed(crash *supervision.Crash) {
	o.log.Error("Observe crashed", zap.Error(crash), zap.ByteString("stack", crash.Stack))
	o.node.Call(o)
}

// drain waits until Observe was told of everything, within d.
func (o *observer) drain(d time.Duration) {
	o.mu.Lock()
	idle := o.idle
	if o.busy && idle == nil {
		idle = make(chan struct{})
		o.idle = idle
	}
	o.mu.Unlock()
	if idle == nil {
		return
	}
	patience := time.NewTimer(d)
	defer patience.Stop()
	select {
	case <-idle:
	case <-patience.C:
	}
}
