package log

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// Limits for journal calls. An append without an answer is checked after AppendTimeout. Reading a log may take
// ReadTimeout. Retries wait from firstBackoff up to maxBackoff. A start gives up after startPatience if the store
// takes nothing.
const (
	AppendTimeout = time.Second
	ReadTimeout   = 5 * time.Second
	firstBackoff  = journalDelay
	maxBackoff    = 5 * time.Second
	startPatience = 2 * time.Second
)

// Appender writes the runs' blocks to the journal; nothing else in a System appends.
//
// One run's trouble must not affect another run. So each block gets its own goroutine, a panic or Goexit of the
// journal is caught, and a missing, late or repeated answer is tolerated. A block is sent again, unchanged, until the
// log holds its id or another writer's event in its place. It is safe for concurrent use: the state of each block is
// in an [entry] with its own lock.
type Appender struct {
	Config
	ctx  context.Context
	ids  atomic.Uint64
	salt uint64 // random half of every block id
	// InPlace: the journal is a journal.Memory, which never blocks. The run appends on its own goroutine, so that a
	// start does not wait for another one.
	InPlace  bool
	observer *observer
	failing  atomic.Pointer[failing] // nil while the journal takes blocks
	damaged  atomic.Pointer[error]   // why no run can begin until the node restarts

	// LateFinishes counts terminals that came after the run's terminal. Retries counts appends that failed or went
	// unanswered, LateAnswers those answered too late or twice. Fenced counts the runs that another node took over.
	LateFinishes, Retries, LateAnswers, Fenced atomic.Int64
}

// Config is what an Appender needs of its node.
type Config struct {
	Journal journal.Journal
	Node    *supervision.Node
	Logger  *zap.Logger
	Writer  string        // the node's unique name in the journal
	Timeout time.Duration // how long appends may fail before the run ends
	// Observe is called with each milestone once it is in the journal, one at a time; nil observes nothing.
	Observe func(messages.Event)
}

// NewAppender makes the appender of a node. It appends until ctx is done.
func NewAppender(ctx context.Context, config Config) *Appender {
	a := &Appender{Config: config, ctx: ctx}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	a.salt = binary.BigEndian.Uint64(random[:])
	_, a.InPlace = config.Journal.(*journal.Memory)
	if config.Observe != nil {
		a.observer = &observer{tell: config.Observe, node: config.Node, log: config.Logger}
	}
	return a
}

// failing records an outage of the journal: when it began, when it was last seen, and why.
type failing struct {
	since, last time.Time
	why         error
}

// Ready returns nil, or why no run should start now. After a while without an attempt to write, it returns nil.
func (a *Appender) Ready() error {
	if why := a.damaged.Load(); why != nil {
		return messages.Errorf(messages.CauseJournalUnavailable, "no run can start: %v", *why)
	}
	f := a.failing.Load()
	if f == nil || time.Since(f.since) < AppendTimeout || time.Since(f.last) > 2*maxBackoff {
		return nil
	}
	e := messages.Errorf(messages.CauseJournalUnavailable, "the journal takes no events, so no run can start: %v", f.why)
	e.Retryable = true
	return e
}

// failed records that the journal did not take a block. It reports whether other runs' blocks would fail too.
func (a *Appender) failed(why error) bool {
	if messages.CodeOf(why) != messages.CauseJournalUnavailable {
		return false
	}
	if errors.Is(why, journal.ErrUnstorable) {
		a.damaged.Store(&why)
		return true
	}
	now := time.Now()
	f := &failing{since: now, last: now, why: why}
	if old := a.failing.Load(); old != nil {
		f.since = old.since
	}
	a.failing.Store(f)
	return true
}

// newID returns a unique block id: the node's random half, and a counter.
func (a *Appender) newID() (id journal.BlockID) {
	binary.BigEndian.PutUint64(id[:8], a.salt)
	binary.BigEndian.PutUint64(id[8:], a.ids.Add(1))
	return id
}

// observer passes milestones on to [Config].Observe, one at a time and in its own goroutine. So a function that
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
