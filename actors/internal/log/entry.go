package log

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// stage is the progress of an entry's block.
type stage uint8

const (
	settled stage = iota // there is no block
	due                  // Append must be called
	tried                // Append was called and has not answered
	doubted              // the answer was unclear: the log must be read
	delayed              // waits for the timer, then becomes due
)

// entry appends the blocks of one run, one at a time and in order.
//
// It is a small state machine (see [stage]). A method that changes the state runs under mu and returns a [verdict];
// [entry.act] then does what the verdict says, without the lock.
type entry struct {
	appender *Appender
	log      *Log

	mu       sync.Mutex
	block    *journal.Block // nil while settled
	stage    stage
	calling  bool           // Append has not returned
	first    uint64         // number of the block's first try; answers to earlier tries are late
	try      uint64         // number of the newest try
	next     *journal.Block // the following block, if it came while Append had not returned
	since    time.Time      // first failure of this block, or zero
	failures int
	timer    *time.Timer // ends a wait, or limits reading the log
	seen     uint64      // newest try at the last inspect
}

// send queues the block and returns at once.
func (e *entry) send(b *journal.Block) {
	switch {
	case !e.take(b): // Append has answered, but not returned
	case e.appender.InPlace:
		e.Work()
	default:
		e.appender.Node.Call(e)
	}
}

// take makes the block the current one or the next one. It reports whether Append must be called now.
func (e *entry) take(b *journal.Block) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calling {
		e.next = b
		return false
	}
	e.begin(b)
	return true
}

// begin makes the block the current one. mu must be held.
func (e *entry) begin(b *journal.Block) {
	b.ID, b.Writer = e.appender.newID(), e.appender.Writer
	e.block, e.stage, e.first, e.since, e.failures = b, due, e.try+1, time.Time{}, 0
}

// Work implements [supervision.Work]: it appends the block, or looks for it in the log.
func (e *entry) Work() {
	for {
		try, b := e.turn()
		switch {
		case b == nil:
			return
		case try == 0:
			e.find(b)
			return
		}
		e.appender.Journal.Append(*b, func(err error) { e.answered(try, err) })
		if !e.returned() {
			return
		}
	}
}

// turn returns what Work must do next: append block b as the given try, look for b in the log (try 0), or stop (b
// nil).
func (e *entry) turn() (try uint64, b *journal.Block) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.appender.ctx.Err() != nil:
		return 0, nil
	case e.stage == doubted:
		e.arm(2 * ReadTimeout)
		return 0, e.block
	case e.stage != due || e.calling:
		return 0, nil
	}
	e.try++
	e.stage, e.calling = tried, true
	return e.try, e.block
}

// Crashed implements [supervision.Work]: the journal panicked, so it is unknown whether the block landed.
func (e *entry) Crashed(crash *supervision.Crash) {
	more := e.returned()
	e.appender.Logger.Error("the journal crashed", e.run(), zap.Error(crash), zap.ByteString("stack", crash.Stack))
	if more {
		e.appender.Node.Call(e)
		return
	}
	e.act(func() verdict { return e.doubt(crash) })
}

// returned notes that Append has returned. It reports whether another block is due.
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

// arm starts the timer. mu must be held.
func (e *entry) arm(d time.Duration) {
	if e.timer == nil {
		e.timer = time.AfterFunc(d, e.overdue)
		return
	}
	e.timer.Reset(d)
}

// verdict says what to do after a change of the entry, once its lock is released.
type verdict struct {
	do     uint8
	head   journal.Head  // for hasLanded: of the log
	why    error         // for all others
	lost   bool          // for dropRun: another node owns a run that this node owned
	events int           // for complain: number of events in the block
	over   bool          // for complain: the run waits no longer
	waited time.Duration // for complain: how long the run has waited
}

const (
	nothing   uint8 = iota
	isLate          // count an answer that came too late
	hasLanded       // tell the log that the block has landed
	lookFor         // look for the block in the log
	sendAgain       // append the block now
	complain        // log that the block was not taken
	dropRun         // the block will never land here
	closeRun        // the node is closed
)

// act calls judge under mu, and carries out its verdict without the lock.
func (e *entry) act(judge func() verdict) {
	a, v := e.appender, func() verdict {
		e.mu.Lock()
		defer e.mu.Unlock()
		return judge()
	}()
	switch v.do {
	case isLate:
		a.LateAnswers.Add(1)
	case hasLanded:
		if a.failing.Load() != nil {
			a.failing.Store(nil)
		}
		e.log.landed(v.head)
	case lookFor:
		a.Logger.Debug("looking for a block", e.run(), zap.Error(v.why))
		a.Node.Call(e)
	case sendAgain:
		a.Node.Call(e)
	case complain:
		a.Retries.Add(1)
		a.Logger.Warn("the journal does not take a block", e.run(), zap.Int("events", v.events), zap.Error(v.why))
		if v.over {
			e.log.unavailable(errNotAppended(e.log.id, v.waited, v.why))
		}
	case dropRun:
		a.failing.Store(nil) // the store answers
		if v.lost {
			a.Fenced.Add(1)
			a.Logger.Warn("lost a run", e.run(), zap.Error(v.why))
		}
		e.log.Drop(v.why)
	case closeRun:
		e.log.Close()
	}
}

// answered handles the journal's answer to a try. A late success counts like one in time.
func (e *entry) answered(try uint64, err error) {
	e.act(func() verdict {
		switch {
		case e.stage == settled || try < e.first || err != nil && (try != e.try || e.stage != tried):
			return verdict{do: isLate}
		case err == nil:
			return e.settle()
		case errors.Is(err, journal.ErrUnstorable):
			e.appender.failed(err)
			return verdict{do: dropRun, why: errUnstorable(e.block, err)}
		case errors.Is(err, journal.ErrRefused):
			return e.again(err)
		}
		return e.doubt(err)
	})
}

// settle ends the block, which has landed. mu must be held.
func (e *entry) settle() verdict {
	head := e.block.Head()
	e.stage, e.block = settled, nil
	if e.timer != nil {
		e.timer.Stop()
	}
	return verdict{do: hasLanded, head: head}
}

// doubt has the log read, because a try did not say whether the block landed. mu must be held.
func (e *entry) doubt(why error) verdict {
	if e.stage == settled {
		return verdict{}
	}
	e.stage, e.since = doubted, timeOrNow(e.since)
	return verdict{do: lookFor, why: why}
}

// timeOrNow returns t or, if t is zero, the present time.
func timeOrNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}

// find looks for the block in the log, and then settles it or sends it again.
func (e *entry) find(b *journal.Block) {
	ctx, cancel := context.WithTimeout(e.appender.ctx, ReadTimeout)
	defer cancel()
	page, err := e.appender.Journal.Read(ctx, b.Run, b.After.Seq)
	unknown := messages.CodeOf(err) == messages.CodeNotFound
	e.act(func() verdict {
		switch {
		case e.stage != doubted || e.block.ID != b.ID:
			return verdict{}
		case err == nil && slices.Contains(page.Blocks, b.ID):
			return e.settle()
		case err == nil && page.Head.Seq > b.After.Seq: // for a run's first block: another node has started the run
			return verdict{do: dropRun, why: errFenced(b.Run), lost: b.After.Seq > 0}
		case (err == nil || unknown) && b.After.Seq > page.Head.Seq:
			return verdict{do: dropRun, why: errForgotten(b.Run, b.After.Seq), lost: true}
		case err == nil || unknown:
			return e.again(journal.ErrUnknown)
		}
		return e.again(err)
	})
}

// Owned looks at the log's head in the journal, and reports whether this node owns the run or may still own it. It drops
// the live log if another node owns the run, or the journal no longer has the run.
func (l *Log) Owned(ctx context.Context) (bool, error) {
	a, durable := l.entry.appender, l.durable.Load()
	if durable == 0 || l.Dropped() != nil {
		return false, nil
	}
	page, err := a.Journal.Read(ctx, l.id, durable)
	l.mu.Lock() // after Read: the run may have started while the journal was read
	known, epoch := l.head.Epoch, l.ledger.Epoch
	l.mu.Unlock()
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound || err == nil && page.Head.Seq < durable:
		a.Fenced.Add(1)
		l.Drop(errForgotten(l.id, durable))
		return false, nil
	case err != nil:
		return false, err
	case page.Head.Epoch > max(known, epoch):
		a.Logger.Warn("lost a run", zap.String("run", string(l.id)))
		a.Fenced.Add(1)
		l.Drop(errFenced(l.id))
		return false, nil
	}
	// a greater one is of an event of this node, or of another node with the same epoch: the appender will find out
	return page.Head.Epoch <= known, nil
}

func errFenced(run messages.RunID) error {
	return messages.Errorf(messages.CodeUnavailable, "run %s is owned by another node; its journal has it", run)
}

func errForgotten(run messages.RunID, seq uint64) error {
	return messages.Errorf(messages.CodeUnavailable, "the journal no longer has run %s up to event %d", run, seq)
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

// again sends the same block once more after a backoff: the earlier try may still land. mu must be held.
func (e *entry) again(why error) verdict {
	e.stage, e.since = delayed, timeOrNow(e.since)
	wait := min(firstBackoff<<min(e.failures, 6), maxBackoff)
	e.failures++
	e.arm(wait)
	return e.warn(why)
}

// warn returns a complaint, which ends the run after too long an outage. mu must be held.
func (e *entry) warn(why error) verdict {
	patience := e.appender.Timeout
	if b := e.block; e.appender.failed(why) && b != nil && b.After.Seq == 0 && !strings.Contains(string(b.Run), ".") && errors.Is(why, journal.ErrRefused) {
		patience = min(patience, startPatience) // nothing of the run exists yet
	}
	return verdict{do: complain, why: why, events: len(cmp.Or(e.block, e.next).Events), waited: patience,
		over: time.Since(e.since) >= patience}
}

// Unstorable is the reason why a run was dropped: the journal refuses its events permanently.
type Unstorable struct{ Why *messages.Error }

func (u Unstorable) Error() string { return u.Why.Message }
func (u Unstorable) Unwrap() error { return u.Why }

func errUnstorable(b *journal.Block, why error) error {
	first, last := b.Events[0], b.Events[len(b.Events)-1]
	return Unstorable{messages.Errorf(messages.CauseJournalUnavailable,
		"the journal refuses permanently what the run said in %d to %d, which was dropped: %v", first.From, last.Seq, why)}
}

func errNotAppended(run messages.RunID, after time.Duration, why error) *messages.Error {
	e := messages.Errorf(messages.CauseJournalUnavailable,
		"the journal has not taken the events of run %s for %s: %v", run, after, why)
	e.Retryable = true
	return e
}

// inspect looks for an append without an answer. A try that it sees twice has no answer in time, or blocks the next
// block.
func (e *entry) inspect() {
	e.act(func() verdict {
		late := e.seen == e.try && (e.stage == tried || e.next != nil)
		e.seen = e.try
		switch {
		case !late:
			return verdict{}
		case e.calling: // a second call could block like the first one
			e.since = timeOrNow(e.since)
			return e.warn(errBlocked)
		}
		return e.doubt(errSilent)
	})
}

// overdue is called by the timer: a wait is over, or reading the log takes too long.
func (e *entry) overdue() {
	e.act(func() verdict {
		switch {
		case e.stage != delayed && e.stage != doubted:
			return verdict{}
		case e.appender.ctx.Err() != nil:
			return verdict{do: closeRun}
		case e.stage == doubted || e.calling:
			e.arm(2 * ReadTimeout)
			return e.warn(errBlocked)
		}
		e.stage = due
		return verdict{do: sendAgain}
	})
}

var (
	errBlocked = errors.New("the call does not return")
	errSilent  = errors.New("the append was not answered")
)

func (e *entry) run() zap.Field { return zap.String("run", string(e.log.id)) }
