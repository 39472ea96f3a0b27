package actors

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/messages"
)

// activeRun is what the node keeps of a run that it owns, or starts, until its terminal is in the journal. The run's
// actor, its supervisor and callers share it.
type activeRun struct {
	system      *System
	id          messages.RunID
	job         Job
	principal   string
	mode        messages.Mode
	parent      *activeRun // nil for a run of its own
	log         *runLog
	clock       clock
	claim       Claim        // set before its actor starts
	liveSubRuns atomic.Int64 // of the root: its sub-runs that are alive
	ending      atomic.Value // the cause with which its work was cancelled, as an ended

	mu       sync.Mutex
	pid      *actor.PID // of its actor, once it is up
	waiting  []any      // what was posted before that
	detached bool       // nobody can be attached any more
	callers  int        // attached
	leave    []func() bool
	attempts attempts
}

// post sends a message to the run's actor, once it is up.
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

func (r *activeRun) hasActor() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pid != nil
}

// launched reports whether an actor is, or will be, the run's.
func (r *activeRun) launched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.claim.Run != ""
}

// up says that the run's actor has started.
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

// attempts are those whose work may run: the one under way and the one before.
type attempts [2]*attempt

type cancelCause struct{ cause error }

// end cancels the run's work. An attempt whose work has not started yet asks for the cause once it has.
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

// cause returns with what the run's work was cancelled, or nil.
func (r *activeRun) cause() error {
	e, _ := r.ending.Load().(cancelCause)
	return e.cause
}

func (r *activeRun) begin(a *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = attempts{a, r.attempts[0]}
}

// working returns an attempt whose work has not ended, or nil. Its actor may be gone.
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

// attach makes the caller one of those by whose leaving, all of them, an attached run is cancelled.
func (r *activeRun) attach(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detached {
		return
	}
	r.callers++
	r.leave = append(r.leave, context.AfterFunc(ctx, func() {
		r.mu.Lock()
		r.callers--
		last := r.callers == 0 && !r.detached && r.mode == messages.Attached
		r.mu.Unlock()
		if last {
			r.system.tellRuns(&cancelFor{run: r, cancelRun: cancelRun{by: r.principal, reason: context.Cause(ctx).Error()}})
		}
	}))
}

// detach forgets the callers: the run has ended.
func (r *activeRun) detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
	for _, stop := range r.leave {
		stop()
	}
	r.leave = nil
}

// clock measures a run's limits. Times are since the System began, on the monotonic clock.
type clock struct {
	deadline, stall time.Duration
	paused          atomic.Int64 // for how long the clocks have stood
	pausedSince     atomic.Int64 // since when they stand; 0 is that they run
	children        atomic.Bool  // the stall clock stands
	waits           atomic.Bool  // the run waits for people
}

// stand stops the clocks, or has them go on.
func (c *clock) set(now time.Duration, s clockState) {
	c.children.Store(s.children)
	switch was := c.waits.Swap(s.waits); {
	case s.waits && !was:
		c.pausedSince.Store(int64(now))
	case was && !s.waits:
		c.paused.Add(int64(now) - c.pausedSince.Swap(0))
	}
}

// due returns when the first limit is reached as things are, and which; zero while the clocks stand.
func (c *clock) due(updated time.Duration) (at time.Duration, cause messages.Cause) {
	if c.waits.Load() {
		return 0, ""
	}
	at, cause = c.deadline+time.Duration(c.paused.Load()), messages.CauseDeadline
	if stalled := updated + c.stall; !c.children.Load() && stalled < at {
		at, cause = stalled, messages.CauseStalled
	}
	return at, cause
}

// childID returns the id of a run's n-th child.
func childID(parent messages.RunID, n int) messages.RunID {
	return parent + messages.RunID(".c"+strconv.Itoa(n))
}

// parentOf returns the id of the run that a sub-run belongs to, or "".
func parentOf(id messages.RunID) messages.RunID {
	i := strings.LastIndexByte(string(id), '.')
	return id[:max(i, 0)]
}
