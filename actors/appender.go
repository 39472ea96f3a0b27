package actors

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// How long the journal may take to answer an append before its log is looked at, to read a log, and the waits between
// two tries.
const (
	appendTimeout = time.Second
	readTimeout   = 5 * time.Second
	firstBackoff  = journalDelay
	maxBackoff    = 5 * time.Second
)

// appender is the only one who appends to the journal. What the journal does there costs the run of the block and no
// other: it is called on a goroutine that the block has for itself, a panic or a Goexit is caught, an answer that is
// missing, late or given twice is dealt with, and a block is sent again, unchanged, until its id is found in the log or
// another's event in its place.
type appender struct {
	journal Journal
	node    *supervision.Node
	log     *zap.Logger
	counts  *counts
	writer  string
	timeout time.Duration // how long a block may not land before its run is told
	ctx     context.Context
	ids     atomic.Uint64
	salt    uint64
	// inPlace says that the journal is a MemoryJournal, which neither blocks nor fails: the caller appends, and a start
	// waits for no goroutine.
	inPlace bool
}

// newID returns an id that no other block has: the node's random half, and a count.
func (a *appender) newID() (id BlockID) {
	binary.BigEndian.PutUint64(id[:8], a.salt)
	binary.BigEndian.PutUint64(id[8:], a.ids.Add(1))
	return id
}

// stage is where the block of an entry stands.
type stage uint8

const (
	settled stage = iota // there is none
	due                  // it is to be appended
	tried                // Append was called, and has not answered
	doubted              // its log is to be read
	delayed              // it is appended again when the timer fires
)

// entry is the block of a run that is under way.
type entry struct {
	appender *appender
	log      *runLog

	mu       sync.Mutex
	block    *Block // nil when it has settled
	stage    stage
	first    uint64 // the block's first try; what answers an earlier one is about another block
	try      uint64
	calling  bool      // Append has not returned
	next     *Block    // what the log had to send before it did
	since    time.Time // of the trouble; zero while there is none
	failures int
	timer    *time.Timer // of a wait, or of a look at the log
	seen     uint64      // the try that inspect saw last
}

// send has the block kept. It does not block.
func (e *entry) send(b Block) {
	e.mu.Lock()
	if e.calling { // it has answered, but not returned
		e.next = &b
		e.mu.Unlock()
		return
	}
	e.begin(&b)
	e.mu.Unlock()
	if e.appender.inPlace {
		e.Work()
		return
	}
	e.appender.node.Call(e)
}

// begin makes the block the one under way. Under mu.
func (e *entry) begin(b *Block) {
	b.ID, b.Writer = e.appender.newID(), e.appender.writer
	e.block, e.stage, e.first, e.since, e.failures = b, due, e.try+1, time.Time{}, 0
}

// Work implements [supervision.Work]: it appends the block, or reads the log for it.
func (e *entry) Work() {
	for {
		e.mu.Lock()
		switch {
		case e.appender.ctx.Err() != nil:
			e.mu.Unlock()
			return
		case e.stage == doubted:
			b := *e.block
			e.arm(2 * readTimeout)
			e.mu.Unlock()
			e.find(b)
			return
		case e.stage != due || e.calling:
			e.mu.Unlock()
			return
		}
		e.try++
		e.stage, e.calling = tried, true
		try, b := e.try, *e.block
		e.mu.Unlock()
		e.appender.journal.Append(b, func(err error) { e.answered(try, err) })
		if !e.returned() {
			return
		}
	}
}

// Crashed implements [supervision.Work].
func (e *entry) Crashed(crash *supervision.Crash) {
	more := e.returned()
	e.appender.log.Error("the journal crashed", e.run(), zap.Error(crash), zap.ByteString("stack", crash.Stack))
	if more {
		e.appender.node.Call(e)
		return
	}
	e.doubt(crash)
}

// returned is called when Append has; it reports whether there is another block to append.
func (e *entry) returned() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calling = false
	b := e.next
	if b == nil {
		return false
	}
	e.next = nil
	e.begin(b)
	return true
}

// arm has the entry looked after when the time has passed. Under mu.
func (e *entry) arm(d time.Duration) {
	if e.timer == nil {
		e.timer = time.AfterFunc(d, e.overdue)
		return
	}
	e.timer.Reset(d)
}

// answered takes the journal's word on a try. A late word that the block landed is as good as one in time.
func (e *entry) answered(try uint64, err error) {
	e.mu.Lock()
	switch {
	case e.stage == settled || try < e.first || err != nil && (try != e.try || e.stage != tried):
		e.mu.Unlock()
		e.appender.counts.lateAnswers.Add(1)
	case err == nil:
		e.settle()
	case errors.Is(err, ErrRefused):
		e.again(err)
	default:
		e.mu.Unlock()
		e.doubt(err)
	}
}

// settle is called under mu and unlocks it: the block has landed.
func (e *entry) settle() {
	head := e.block.Head()
	e.stage, e.block = settled, nil
	if e.timer != nil {
		e.timer.Stop()
	}
	e.mu.Unlock()
	e.log.landed(head)
}

// doubt is told that a try did not say whether the block landed: its log is read.
func (e *entry) doubt(why error) {
	e.mu.Lock()
	if e.stage == settled {
		e.mu.Unlock()
		return
	}
	e.stage, e.since = doubted, timeOrNow(e.since)
	e.mu.Unlock()
	e.appender.log.Debug("looking for a block", e.run(), zap.Error(why))
	e.appender.node.Call(e)
}

func timeOrNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}

// find reads the log for the block, and settles or sends it again.
func (e *entry) find(b Block) {
	ctx, cancel := context.WithTimeout(e.appender.ctx, readTimeout)
	defer cancel()
	page, err := e.appender.journal.Read(ctx, b.Run, b.After.Seq)
	unknown := messages.CodeOf(err) == messages.CodeNotFound
	e.mu.Lock()
	switch {
	case e.stage != doubted || e.block.ID != b.ID:
		e.mu.Unlock()
	case err == nil && slices.Contains(page.Blocks, b.ID):
		e.settle()
	case err == nil && page.Head.Seq > b.After.Seq:
		e.fence(errFenced(b.Run))
	case (err == nil || unknown) && b.After.Seq > page.Head.Seq:
		e.fence(errForgotten(b.Run, b.After.Seq))
	case err == nil || unknown:
		e.again(ErrUnknown)
	default:
		e.again(err)
	}
}

func errFenced(run messages.RunID) error {
	return messages.Errorf(messages.CodeUnavailable, "run %s is owned by another node; its journal has it", run)
}

func errForgotten(run messages.RunID, seq uint64) error {
	return messages.Errorf(messages.CodeUnavailable, "the journal no longer has run %s up to event %d", run, seq)
}

// fence is called under mu and unlocks it: the block will never land here.
func (e *entry) fence(why error) {
	e.mu.Unlock()
	e.appender.log.Warn("lost a run", e.run(), zap.Error(why))
	e.log.drop(why)
}

// forget gives the block up.
func (e *entry) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stage, e.block, e.next = settled, nil, nil
	if e.timer != nil {
		e.timer.Stop()
	}
}

// again has the block sent again, later: unchanged, because it may have landed all the same. It is called under mu and
// unlocks it.
func (e *entry) again(why error) {
	e.stage, e.since = delayed, timeOrNow(e.since)
	wait := min(firstBackoff<<min(e.failures, 6), maxBackoff)
	e.failures++
	e.arm(wait)
	e.warn(why)
}

// complain logs and counts, and tells the run once its patience is over. It is called under mu and unlocks it.
func (e *entry) warn(why error) {
	over := time.Since(e.since) >= e.appender.timeout
	events := len(cmp.Or(e.block, e.next).Events)
	e.mu.Unlock()
	e.appender.counts.journalRetries.Add(1)
	e.appender.log.Warn("the journal does not take a block", e.run(), zap.Int("events", events), zap.Error(why))
	if over {
		e.log.unavailable(errNotAppended(e.log.id, e.appender.timeout, why))
	}
}

func errNotAppended(run messages.RunID, after time.Duration, why error) *messages.Error {
	e := messages.Errorf(messages.Code(messages.CauseJournalUnavailable),
		"the journal has not taken the events of run %s for %s: %v", run, after, why)
	e.Retryable = true
	return e
}

// inspect is called again and again, appendTimeout apart: a try that it sees twice has not been answered in time, or has
// not returned and is in the way of the next block.
func (e *entry) inspect() {
	e.mu.Lock()
	late := e.seen == e.try && (e.stage == tried || e.next != nil)
	e.seen = e.try
	switch {
	case !late:
		e.mu.Unlock()
	case e.calling: // a second call could block like the first: the block has one goroutine
		e.since = timeOrNow(e.since)
		e.warn(errBlocked)
	default:
		e.mu.Unlock()
		e.doubt(errSilent)
	}
}

// overdue is called by the timer: a wait is over, or a look at the log takes too long.
func (e *entry) overdue() {
	e.mu.Lock()
	switch {
	case e.stage != delayed && e.stage != doubted:
		e.mu.Unlock()
	case e.appender.ctx.Err() != nil:
		e.mu.Unlock()
		e.log.unavailable(errClosedJournal(e.log.id))
	case e.stage == doubted || e.calling:
		e.arm(2 * readTimeout)
		e.warn(errBlocked)
	default:
		e.stage = due
		e.mu.Unlock()
		e.appender.node.Call(e)
	}
}

func errClosedJournal(run messages.RunID) *messages.Error {
	return messages.Errorf(messages.Code(messages.CauseJournalUnavailable),
		"the node shut down before the journal had taken the events of run %s", run)
}

var (
	errBlocked = errors.New("the call does not return")
	errSilent  = errors.New("Append was not answered")
)

func (e *entry) run() zap.Field { return zap.String("run", string(e.log.id)) }
