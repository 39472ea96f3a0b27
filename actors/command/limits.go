package command

import (
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// limits end a program that takes too long or is silent for too long. They are the operator's, so no caller can raise
// them. They stand still while people are asked.
type limits struct {
	mu            sync.Mutex
	idle          time.Duration
	silent, whole *time.Timer // nil without a limit
	left          time.Duration
	since         time.Time
	asking        int
}

// start starts the limits. fail ends the program.
func (l *limits) start(name string, timeout, idle schedule.Duration, fail func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.idle, l.since = time.Duration(timeout), time.Duration(idle), time.Now()
	if timeout > 0 {
		l.whole = time.AfterFunc(l.left, func() {
			fail(messages.Errorf(messages.CauseDeadline, "%s took longer than %v", name, time.Duration(timeout)))
		})
	}
	if idle > 0 {
		l.silent = time.AfterFunc(l.idle, func() {
			fail(messages.Errorf(messages.CauseStalled, "%s said nothing for %v", name, time.Duration(idle)))
		})
	}
}

// heard restarts the limit on silence.
func (l *limits) heard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent != nil && l.asking == 0 {
		l.silent.Reset(l.idle)
	}
}

// ask pauses the limits until answered is called.
func (l *limits) ask() (answered func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asking++; l.asking == 1 {
		l.stop()
		l.left -= time.Since(l.since)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.asking--; l.asking > 0 {
			return
		}
		if l.since = time.Now(); l.whole != nil {
			l.whole.Reset(l.left)
		}
		if l.silent != nil {
			l.silent.Reset(l.idle)
		}
	}
}

func (l *limits) stop() {
	if l.whole != nil {
		l.whole.Stop()
	}
	if l.silent != nil {
		l.silent.Stop()
	}
}

// end stops the limits for good.
func (l *limits) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	l.whole, l.silent = nil, nil
}
