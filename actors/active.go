package actors

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// activeRun is a run that this node owns or starts, until its terminal is in the journal. The run's actor, its
// supervisor and callers share it.
type activeRun struct {
	system      *System
	id          messages.RunID
	job         Job
	principal   string
	mode        messages.Mode
	parent      *activeRun     // nil for a top-level run
	trace       messages.Trace // of its calls
	log         *runLog
	clock       clock
	claim       journal.Claim // set before the run's actor starts
	liveSubRuns atomic.Int64  // at the root: how many of its sub-runs are alive
	ending      atomic.Value  // a cancelCause, once the run's work was cancelled
	leaving     atomic.Bool   // its actor has left it for another node to continue
	refused     bool          // it only ends: the journal refuses for good what it said before
	// unborn are the children that the log of a run that is started again names, and that have no log.
	unborn map[messages.RunID]bool

	mu       sync.Mutex
	pid      *actor.PID // of its actor, once that has started
	waiting  []any      // messages posted before that
	detached bool       // the run has ended: nobody can attach
	callers  int        // attached
	// elsewhere runs while callers at other nodes count as one.
	elsewhere *time.Timer
	leave     []func() bool
	attempts  attempts
}

// post sends a message to the run's actor, now or when it has started.
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

// launched reports whether the run has an actor, or soon will.
func (r *activeRun) launched() bool { return r.lent().Run != "" }

// lent is the claim on the run, zero before the journal has lent it.
func (r *activeRun) lent() journal.Claim {
	return locked(&r.mu, func() journal.Claim { return r.claim })
}

// actorStarted sends the actor what was posted before.
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

// attempts are the two newest: the work of both may still run.
type attempts [2]*attempt

type cancelCause struct{ cause error }

// end cancels the run's work. An attempt that starts its work later asks for the cause itself.
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

func (r *activeRun) begin(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = attempts{a, r.attempts[0]}
}

// working returns an attempt whose work still runs, or nil. Its actor may have ended.
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

func (r *activeRun) root() *activeRun {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// attach adds a caller. When the last caller of an attached run leaves, the run is cancelled.
func (r *activeRun) attach(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detached {
		return
	}
	r.callers++
	r.leave = append(r.leave, context.AfterFunc(ctx, func() { r.callerLeft(context.Cause(ctx).Error()) }))
}

// callerLease is how long a caller at another node counts as attached, and callerBeat how often that node says so.
const (
	callerLease = 30 * time.Second
	callerBeat  = callerLease / 3
)

// attachElsewhere adds the callers at other nodes for one lease, or renews it.
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

func (r *activeRun) callerLeft(why string) {
	r.mu.Lock()
	r.callers--
	last := r.callers == 0 && !r.detached && r.mode == messages.Attached
	r.mu.Unlock()
	if last {
		r.system.tellRuns(&cancelFor{run: r, cancelRun: cancelRun{by: r.principal, reason: why}})
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

// clock measures a run's limits, in time since the process began, on the monotonic clock.
type clock struct {
	deadline, stall time.Duration
	paused          atomic.Int64 // how long the clocks were paused so far
	pausedSince     atomic.Int64 // since when they are paused; 0 while they run
	children        atomic.Bool  // a sub-run is alive: the stall clock is paused
	waits           atomic.Bool  // the run waits for people: both clocks are paused
}

// set pauses the clocks, or resumes them.
func (c *clock) set(now time.Duration, s clockState) {
	c.children.Store(s.children)
	switch was := c.waits.Swap(s.waits); {
	case s.waits && !was:
		c.pausedSince.Store(int64(now))
	case was && !s.waits:
		c.paused.Add(int64(now) - c.pausedSince.Swap(0))
	}
}

// due returns when the run reaches its next limit, and which; zero while the clocks are paused.
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

// parentOf returns the id of a sub-run's parent, or "".
func parentOf(id messages.RunID) messages.RunID {
	i := strings.LastIndexByte(string(id), '.')
	return id[:max(i, 0)]
}
