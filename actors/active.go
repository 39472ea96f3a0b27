package actors

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// activeRun is a run that this node owns or is about to own, from its start until its terminal is in the journal.
//
// The run's actor, its supervisor and callers of System share it, from any goroutine. mu guards the fields below it;
// the fields above it are set before the run is shared, or are atomic. Every activeRun is in activeRuns.live.
type activeRun struct {
	system      *System
	id          messages.RunID
	job         Job
	principal   string
	mode        messages.Mode
	budgeted    bool           // it has a budget
	parent      *activeRun     // nil for a top-level run
	after       messages.RunID // the run that it waits for when it is enlisted, or ""
	queued      time.Time      // when it was queued
	counted     bool           // towards the limits of active runs; activeRuns.mu guards it
	trace       messages.Trace // trace context of the calls that the run makes
	log         *log.Log
	clock       clock
	claim       journal.Claim // set before the run's actor starts
	liveSubRuns atomic.Int64  // at the root only: number of the tree's live sub-runs
	ending      atomic.Value  // holds a cancelCause once the run's work is cancelled
	said        atomic.Int32  // number of open messages
	beating     atomic.Bool   // the journal has not answered the last beat
	leaving     atomic.Bool   // the actor has left the run for another node to continue
	refused     bool          // the journal refused a block permanently: all that is left is to end the run
	// unborn holds the children that the log of a restarted run names, but that have no log yet.
	unborn map[messages.RunID]bool

	mu       sync.Mutex
	pid      *actor.PID // of the run's actor; nil until that has started
	waiting  []any      // messages posted before pid was set
	detached bool       // the run has ended: nobody can attach
	callers  int        // number of attached callers
	// elsewhere is the lease of the attached callers at other nodes. They count as one caller while it runs.
	elsewhere *time.Timer
	leave     []func() bool // each stops the wait for one caller's context
	attempts  attempts
}

// post sends a message to the run's actor. Before the actor has started, the message waits.
func (r *activeRun) post(message any) {
	r.mu.Lock()
	pid := r.pid
	if pid == nil {
		r.waiting = append(r.waiting, message)
	}
	r.mu.Unlock()
	if pid != nil {
		r.system.node.Root().Send(pid, message)
	}
}

func (r *activeRun) hasActor() bool { return locked(&r.mu, func() bool { return r.pid != nil }) }

// launched reports whether the run has an actor, or is about to get one.
func (r *activeRun) launched() bool { return r.lent().Run != "" }

// lent returns the claim on the run, or the zero claim before the journal has lent the run.
func (r *activeRun) lent() journal.Claim {
	return locked(&r.mu, func() journal.Claim { return r.claim })
}

// actorStarted sends the actor the messages that were posted before it started.
func (r *activeRun) actorStarted(pid *actor.PID) {
	r.mu.Lock()
	r.pid = pid
	waiting := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	for _, message := range waiting {
		r.system.node.Root().Send(pid, message)
	}
}

// attempts holds the two newest attempts, the newest first: the work of both may still run.
type attempts [2]*attempt

// cancelCause wraps an error, because an atomic.Value takes values of one type only.
type cancelCause struct{ cause error }

// end cancels the run's work with a cause. An attempt that starts later asks [activeRun.cause] itself.
func (r *activeRun) end(cause error) {
	if r.ending.Load() == nil {
		r.ending.CompareAndSwap(nil, cancelCause{cause})
	}
	r.mu.Lock()
	all := r.attempts
	r.mu.Unlock()
	for _, a := range all {
		if a != nil {
			a.cancel(cause)
		}
	}
}

// cause returns why the run's work was cancelled, or nil.
func (r *activeRun) cause() error {
	e, _ := r.ending.Load().(cancelCause)
	return e.cause
}

// begin makes the attempt the newest.
func (r *activeRun) begin(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = attempts{a, r.attempts[0]}
}

// working returns an attempt whose work still runs, or nil. The attempt's actor may have ended already.
func (r *activeRun) working() *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.attempts {
		if a != nil && a.running() {
			return a
		}
	}
	return nil
}

// root returns the top-level run of the tree that the run belongs to.
func (r *activeRun) root() *activeRun {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// attach adds a caller until ctx is done. An attached run is cancelled when its last caller leaves.
func (r *activeRun) attach(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detached {
		return
	}
	r.callers++
	r.leave = append(r.leave, context.AfterFunc(ctx, func() { r.callerLeft(context.Cause(ctx).Error()) }))
}

// callerLease is how long a caller at another node counts as attached. That node renews the lease every callerBeat.
const (
	callerLease = 30 * time.Second
	callerBeat  = callerLease / 3
)

// attachElsewhere adds the callers at other nodes for one lease, or renews their lease.
func (r *activeRun) attachElsewhere() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.detached || r.mode != messages.Attached:
	case r.elsewhere != nil && r.elsewhere.Stop():
		r.elsewhere.Reset(callerLease)
	default:
		r.callers++
		r.elsewhere = time.AfterFunc(callerLease, func() { r.callerLeft("its caller's node is silent") })
		r.leave = append(r.leave, r.elsewhere.Stop)
	}
}

// callerLeft removes a caller, and cancels an attached run that has no other.
func (r *activeRun) callerLeft(why string) {
	r.mu.Lock()
	r.callers--
	last := r.callers == 0 && !r.detached && r.mode == messages.Attached
	r.mu.Unlock()
	if last {
		r.system.sendToRuns(&cancelFor{run: r, cancelRun: cancelRun{by: r.principal, reason: why}})
	}
}

// detach forgets the callers, because the run has ended.
func (r *activeRun) detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
	for _, stop := range r.leave {
		stop()
	}
	r.leave = nil
}

// clock tracks when a run reaches its limits. Times are durations since log.Origin, on the monotonic clock.
//
// The watchdog reads it while the run's actor writes it, so what changes is atomic.
type clock struct {
	deadline, stall time.Duration
	paused          atomic.Int64 // total time for which the clocks were paused
	pausedSince     atomic.Int64 // when the current pause began; 0 while the clocks run
	children        atomic.Bool  // a sub-run is alive: the stall clock stands still
	waits           atomic.Bool  // the run waits for people: both clocks stand still
}

// set pauses or resumes the clocks.
func (c *clock) set(now time.Duration, s clockState) {
	c.children.Store(s.children)
	switch was := c.waits.Swap(s.waits); {
	case s.waits && !was:
		c.pausedSince.Store(int64(now))
	case was && !s.waits:
		c.paused.Add(int64(now) - c.pausedSince.Swap(0))
	}
}

// due returns the time of the next limit and its cause. It returns zero while the clocks are paused.
func (c *clock) due(updated time.Duration) (at time.Duration, cause messages.Code) {
	if c.waits.Load() {
		return 0, ""
	}
	at, cause = c.deadline+time.Duration(c.paused.Load()), messages.CauseDeadline
	if stalled := updated + c.stall; !c.children.Load() && stalled < at {
		at, cause = stalled, messages.CauseStalled
	}
	return at, cause
}

// childID returns the id of a run's n-th sub-run.
func childID(parent messages.RunID, n int) messages.RunID {
	return parent + messages.RunID(".c"+strconv.Itoa(n))
}

// locked calls f under the lock, and returns its result.
func locked[T any](mu *sync.Mutex, f func() T) T {
	mu.Lock()
	defer mu.Unlock()
	return f()
}
