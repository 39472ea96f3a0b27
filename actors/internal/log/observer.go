package log

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// observer passes milestones on to [Config].Observe, one at a time and in a goroutine of its own. So a function that
// blocks or panics costs the runs nothing.
type observer struct {
	tell func(messages.Event)
	node *supervision.Node
	log  *zap.Logger

	mu      sync.Mutex // innermost lock: taken while a log's mu is held
	waiting []messages.Event
	busy    bool
	idle    context.CancelFunc // called when nothing waits any more, if somebody waits for that
	missed  bool               // there was no room for some milestones
}

// mostObserved is how many milestones may wait for Observe. Later ones are dropped.
const mostObserved = 1 << 16

// add queues a milestone. It reports whether the observer must be started, with the node's Call.
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

// next returns the next milestone, and whether some were dropped before it.
func (o *observer) next() (e messages.Event, missed, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	missed, o.missed = o.missed, false
	if len(o.waiting) == 0 {
		o.waiting, o.busy = nil, false
		if o.idle != nil {
			o.idle()
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

// Drain waits at most d until Observe was told of everything.
func (a *Appender) Drain(d time.Duration) {
	o := a.observer
	if o == nil {
		return
	}
	told, idle := context.WithCancel(context.Background())
	o.mu.Lock()
	if o.idle = idle; !o.busy {
		idle()
	}
	o.mu.Unlock()
	supervision.Sleep(told, d)
}
