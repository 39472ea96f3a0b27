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

// Limits for calls of the journal: when an unanswered append is checked, how long reading a log may take, and the
// waits between two tries. A start gives up after startPatience when the store takes nothing.
const (
	appendTimeout = time.Second
	readTimeout   = 5 * time.Second
	firstBackoff  = journalDelay
	maxBackoff    = 5 * time.Second
	startPatience = 2 * time.Second
)

// appender alone appends to the journal. Trouble there costs one run, and no other: each block has a goroutine of its
// own, a panic or a Goexit is caught, and a missing, late or repeated answer is dealt with. A block is sent again,
// unchanged, until the log holds its id, or another writer's event in its place.
type appender struct {
	journal Journal
	node    *supervision.Node
	log     *zap.Logger
	counts  *counts
	writer  string
	timeout time.Duration // how long an append may fail before the run ends
	ctx     context.Context
	ids     atomic.Uint64
	salt    uint64
	// inPlace: the journal is a MemoryJournal, which never blocks. The caller appends, so that a start waits for no
	// goroutine.
	inPlace bool
	observe func(messages.Event) // Config.Observe
	failing atomic.Pointer[failing]
}

// failing says that the journal takes no run's block: since when, when it last said so, and why.
type failing struct {
	since, last time.Time
	why         error
}

// unready returns why no run should start now, or nil. While nobody has tried for a while, it is not known.
func (a *appender) unready() error {
	f := a.failing.Load()
	if f == nil || time.Since(f.since) < appendTimeout || time.Since(f.last) > 2*maxBackoff {
		return nil
	}
	e := messages.Errorf(messages.Code(messages.CauseJournalUnavailable), "the journal takes no events, so no run can start: %v", f.why)
	e.Retryable = true
	return e
}

// failed notes that a block was not taken, and reports whether no other run's would be.
func (a *appender) failed(why error) bool {
	if messages.CodeOf(why) != messages.Code(messages.CauseJournalUnavailable) {
		return false
	}
	now := time.Now()
	f := &failing{since: now, last: now, why: why}
	if old := a.failing.Load(); old != nil {
		f.since = old.since
	}
	a.failing.Store(f)
	return true
}

// newID returns a unique id: a random half of the node's, and a count.
func (a *appender) newID() (id BlockID) {
	binary.BigEndian.PutUint64(id[:8], a.salt)
	binary.BigEndian.PutUint64(id[8:], a.ids.Add(1))
	return id
}

// stage is how far the block of an entry is.
type stage uint8

const (
	settled stage = iota // there is no block
	due                  // Append is to be called
	tried                // Append was called and has not answered
	doubted              // the answer was unclear: the log is to be read
	delayed              // waits for the timer, and then is due again
)

// entry appends the blocks of one run, one at a time.
type entry struct {
	appender *appender
	log      *runLog

	mu       sync.Mutex
	block    *Block // nil while settled
	stage    stage
	first    uint64 // the block's first try; answers to earlier ones are late
	try      uint64
	calling  bool      // Append has not returned
	next     *Block    // came while Append had not returned
	since    time.Time // the first failure of this block, or zero
	failures int
	timer    *time.Timer // of a wait, or of reading the log
	seen     uint64      // the newest try at the last inspect
}

// send appends the block. It does not block.
func (e *entry) send(b Block) {
	e.mu.Lock()
	if e.calling { // Append has answered, but not returned
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

// begin makes the block the current one. Under mu.
func (e *entry) begin(b *Block) {
	b.ID, b.Writer = e.appender.newID(), e.appender.writer
	e.block, e.stage, e.first, e.since, e.failures = b, due, e.try+1, time.Time{}, 0
}

// Work implements [supervision.Work]: it appends the block, or looks for it in the log.
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

func (e *entry) Crashed(crash *supervision.Crash) {
	more := e.returned()
	e.appender.log.Error("the journal crashed", e.run(), zap.Error(crash), zap.ByteString("stack", crash.Stack))
	if more {
		e.appender.node.Call(e)
		return
	}
	e.doubt(crash)
}

// returned is called when Append has returned. It reports whether another block is due.
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

// arm starts the timer. Under mu.
func (e *entry) arm(d time.Duration) {
	if e.timer == nil {
		e.timer = time.AfterFunc(d, e.overdue)
		return
	}
	e.timer.Reset(d)
}

// answered takes the journal's answer to a try. A late success counts as one in time.
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

// settle ends the block, which has landed. It is called under mu and unlocks it.
func (e *entry) settle() {
	head := e.block.Head()
	e.stage, e.block = settled, nil
	if e.appender.failing.Load() != nil {
		e.appender.failing.Store(nil)
	}
	if e.timer != nil {
		e.timer.Stop()
	}
	e.mu.Unlock()
	e.log.landed(head)
}

// doubt has the log read: a try did not say whether the block landed.
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

// find looks for the block in the log, and settles it or sends it again.
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

// fence drops the run: the block will never land here. It is called under mu and unlocks it.
func (e *entry) fence(why error) {
	lost := e.block.After.Seq > 0 // otherwise another node has started the run, with the same key
	e.mu.Unlock()
	e.appender.failing.Store(nil) // the store answers
	if lost {
		e.appender.log.Warn("lost a run", e.run(), zap.Error(why))
	}
	e.log.drop(why)
}

// forget drops the block.
func (e *entry) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stage, e.block, e.next = settled, nil, nil
	if e.timer != nil {
		e.timer.Stop()
	}
}

// again sends the block again after a wait, unchanged: it may have landed all the same. It is called under mu and
// unlocks it.
func (e *entry) again(why error) {
	e.stage, e.since = delayed, timeOrNow(e.since)
	wait := min(firstBackoff<<min(e.failures, 6), maxBackoff)
	e.failures++
	e.arm(wait)
	e.warn(why)
}

// warn logs and counts the failure, and ends the run after too many. It is called under mu and unlocks it.
func (e *entry) warn(why error) {
	patience := e.appender.timeout
	if b := e.block; e.appender.failed(why) && b != nil && b.After.Seq == 0 && parentOf(b.Run) == "" && errors.Is(why, ErrRefused) {
		patience = min(patience, startPatience) // nothing of the run exists yet
	}
	over := time.Since(e.since) >= patience
	events := len(cmp.Or(e.block, e.next).Events)
	e.mu.Unlock()
	e.appender.counts.journalRetries.Add(1)
	e.appender.log.Warn("the journal does not take a block", e.run(), zap.Int("events", events), zap.Error(why))
	if over {
		e.log.unavailable(errNotAppended(e.log.id, patience, why))
	}
}

func errNotAppended(run messages.RunID, after time.Duration, why error) *messages.Error {
	e := messages.Errorf(messages.Code(messages.CauseJournalUnavailable),
		"the journal has not taken the events of run %s for %s: %v", run, after, why)
	e.Retryable = true
	return e
}

// inspect runs every appendTimeout. A try that it sees twice was not answered in time, or has not returned and blocks
// the next block.
func (e *entry) inspect() {
	e.mu.Lock()
	late := e.seen == e.try && (e.stage == tried || e.next != nil)
	e.seen = e.try
	switch {
	case !late:
		e.mu.Unlock()
	case e.calling: // a second call could block like the first
		e.since = timeOrNow(e.since)
		e.warn(errBlocked)
	default:
		e.mu.Unlock()
		e.doubt(errSilent)
	}
}

// overdue is the timer's: a wait is over, or reading the log takes too long.
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
