package actors

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
	"go.uber.org/zap"
)

// activeRuns is the part of a System that accepts runs: it knows the active ones, and how many more there may be. It
// also knows the runs with broken logs.
type activeRuns struct {
	*System // whose part it is

	mu           sync.Mutex
	live         map[messages.RunID]*activeRun
	most         int // greatest number of active runs since live was last replaced
	topLevel     int // number of active runs that are not sub-runs
	perPrincipal map[string]int
	broken       map[messages.RunID]error     // runs that were set aside, and why
	untold       map[messages.RunID]time.Time // some runs that nobody told anything, and when they ended
	closed       error                        // why no run is accepted any more
	idle         chan struct{}                // closed when the last run has ended, once closed is set
	idled        sync.Once
	appendTimer  *time.Timer // inspects appends while runs are active
}

// active returns the run if this node runs it, or nil.
func (a *activeRuns) active(id messages.RunID) *activeRun {
	return locked(&a.mu, func() *activeRun { return a.live[id] })
}

// all returns the active runs.
func (a *activeRuns) all() []*activeRun {
	return locked(&a.mu, func() []*activeRun { return slices.Collect(maps.Values(a.live)) })
}

// enlist adds an active run.
func (a *activeRuns) enlist(r *activeRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(r)
}

// enlistLent adds a run that the journal lends, unless it is active already. It reports whether it did.
func (a *activeRuns) enlistLent(r *activeRun) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[r.id] != nil {
		return false
	}
	delete(a.broken, r.id)
	a.add(r)
	return true
}

// add adds an active run. mu must be held.
func (a *activeRuns) add(r *activeRun) {
	a.live[r.id] = r
	a.most = max(a.most, len(a.live))
	a.armAppendTimer()
	if r.parent != nil {
		r.root().liveSubRuns.Add(1)
		a.readers.notify(r.id) // a reader of the tree may wait for the run already
		return
	}
	if r.after == "" {
		a.count1(r)
	}
}

// count1 counts a run towards the limits, once it no longer waits for its turn. mu must be held.
func (a *activeRuns) count1(r *activeRun) {
	r.counted = true
	a.topLevel++
	if r.principal != "" {
		a.perPrincipal[r.principal]++
	}
}

// forget removes an active run, and reports whether it was active.
func (a *activeRuns) forget(r *activeRun) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live[r.id] != r {
		return false
	}
	delete(a.live, r.id)
	if end := r.log.Final(); end != nil && end.End.Cause == messages.CauseShutdown {
		a.counts.shutdown.Add(1)
	}
	if r.parent != nil {
		r.root().liveSubRuns.Add(-1)
	} else if r.counted {
		a.topLevel--
		if r.principal != "" {
			if a.perPrincipal[r.principal]--; a.perPrincipal[r.principal] == 0 {
				delete(a.perPrincipal, r.principal)
			}
		}
	}
	if len(a.live) == 0 && a.most > 8 { // a large map keeps its buckets
		a.live, a.most = map[messages.RunID]*activeRun{}, 0
	}
	if len(a.live) == 0 && a.closed != nil {
		a.setIdle()
	}
	return true
}

// armAppendTimer has appends inspected while runs are active. mu must be held.
func (a *activeRuns) armAppendTimer() {
	if a.appendTimer == nil && len(a.live) > 0 && a.ctx.Err() == nil {
		a.appendTimer = time.AfterFunc(log.AppendTimeout, a.inspect)
	}
}

// inspect looks for appends without an answer.
func (a *activeRuns) inspect() {
	for _, r := range a.all() {
		r.log.Inspect()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.appendTimer = nil
	a.armAppendTimer()
}

// setIdle notes that no run is active any more. mu must be held.
func (a *activeRuns) setIdle() {
	a.idled.Do(func() { close(a.idle) })
}

// refuse makes the System accept no more runs.
func (a *activeRuns) refuse(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed != nil {
		return
	}
	a.closed = why
	if len(a.live) == 0 {
		a.setIdle()
	}
}

// closedBy reports whether the System accepts no more runs for that reason. nil asks whether it accepts runs.
func (a *activeRuns) closedBy(why error) bool {
	return locked(&a.mu, func() bool { return a.closed == why })
}

// errClosed says why the node takes no more runs.
func (a *activeRuns) errClosed() error {
	return messages.Errorf(messages.CodeUnavailable, "the node takes no more runs: %v", cmp.Or(a.closed, errClosing))
}

// awaitIdle waits until no run is active. It gives up when no run has ended for the given time.
func (a *activeRuns) awaitIdle(patience time.Duration) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for before := len(a.all()); ; {
		select {
		case <-a.idle:
			return
		case <-late.C:
		}
		remaining := len(a.all())
		if remaining >= before {
			return
		}
		before = remaining
		late.Reset(patience)
	}
}

// excludeRun excludes a run with a broken log: this node neither holds nor releases its claim.
func (a *activeRuns) excludeRun(id messages.RunID, why error) {
	a.mu.Lock()
	_, known := a.broken[id]
	a.broken[id] = why
	a.mu.Unlock()
	if !known {
		a.log.Error("set a broken log aside", zap.String("run", string(id)), zap.Error(why))
	}
}

// unendable returns why nobody can end the run, or nil: the journal has refused its terminal permanently.
func (a *activeRuns) unendable(id messages.RunID) error {
	if why, never := errors.AsType[log.Unstorable](locked(&a.mu, func() error { return a.broken[id] })); never {
		return why
	}
	return nil
}

// abandon drops the runs that are still active when every actor has ended. It returns how many have no terminal,
// and how many have one that the journal has not taken.
func (a *activeRuns) abandon() (unended, unwritten int) {
	for _, r := range a.all() {
		if r.log.HasTerminal() || r.log.Durable() == 0 || r.log.Trouble() != nil {
			unwritten++
		} else {
			unended++
		}
		r.end(errShutdown)
		r.log.Close()
		r.detach()
		a.forget(r)
	}
	return unended, unwritten
}

// count returns how many runs are active, how many of those wait for people, and which runs were set aside.
func (a *activeRuns) count() (active, waiting int, aside []messages.RunID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.live {
		if r.clock.waits.Load() {
			waiting++
		}
	}
	return len(a.live), waiting, slices.Sorted(maps.Keys(a.broken))
}
