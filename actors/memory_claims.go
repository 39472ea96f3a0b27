package actors

import (
	"context"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// beatEvery is how often a memory journal wants to hear that a claim is held. It lends a run again after four times as
// long.
const beatEvery = 2500 * time.Millisecond

// claims are the runs that may be claimed, and who waits for one.
type claims struct {
	offered map[string][]messages.RunID // by the node that wrote their first block
	free    []messages.RunID            // to anybody
	bells   []chan struct{}             // of the nodes that wait
}

// lease says until when a node holds a run, or until when the run is offered to it alone.
type lease struct {
	node  string
	until time.Time
}

// offer makes a new run claimable, by its writer where it has one. Under mu.
func (j *MemoryJournal) offer(run messages.RunID, r *record, writer string) {
	if writer == "" {
		j.release(run)
		return
	}
	r.lease = lease{writer, time.Now().Add(4 * beatEvery)}
	if j.claims.offered == nil {
		j.claims.offered = map[string][]messages.RunID{}
	}
	j.claims.offered[writer] = append(j.claims.offered[writer], run)
	j.wake()
}

// release makes a run claimable by anybody. Under mu.
func (j *MemoryJournal) release(run messages.RunID) {
	j.claims.free = append(j.claims.free, run)
	j.wake()
}

func (j *MemoryJournal) wake() {
	for _, bell := range j.claims.bells {
		ring(bell)
	}
}

// Claim implements [Journal].
func (j *MemoryJournal) Claim(ctx context.Context, node string) (Claim, error) {
	if run, found := j.claim(node); found {
		return Claim{Run: run, Every: beatEvery}, nil
	}
	bell := make(chan struct{}, 1)
	j.mu.Lock()
	j.claims.bells = append(j.claims.bells, bell)
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.claims.bells = slices.DeleteFunc(j.claims.bells, func(b chan struct{}) bool { return b == bell })
	}()
	if ctx.Err() != nil {
		j.reclaim() // there will be no tick
	}
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if run, found := j.claim(node); found {
			return Claim{Run: run, Every: beatEvery}, nil
		}
		select {
		case <-bell:
		case <-tick.C:
			j.reclaim()
		case <-ctx.Done():
			return Claim{}, context.Cause(ctx)
		}
	}
}

// claim lends the node a run, one that is offered to it first.
func (j *MemoryJournal) claim(node string) (messages.RunID, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	offered := j.claims.offered[node]
	for len(offered) > 0 {
		run := offered[0]
		if offered = offered[1:]; len(offered) == 0 {
			delete(j.claims.offered, node)
		} else {
			j.claims.offered[node] = offered
		}
		if r := j.runs[run]; r != nil && !r.head.Ended && r.lease.node == node {
			r.lease.until = time.Now().Add(4 * beatEvery)
			return run, true
		}
	}
	for len(j.claims.free) > 0 {
		run := j.claims.free[0]
		j.claims.free = j.claims.free[1:]
		if r := j.runs[run]; r != nil && !r.head.Ended {
			r.lease = lease{node, time.Now().Add(4 * beatEvery)}
			return run, true
		}
	}
	return "", false
}

// reclaim frees the runs whose node has not been heard of.
func (j *MemoryJournal) reclaim() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open == 0 {
		return
	}
	now := time.Now()
	for run, r := range j.runs {
		if r.lease.node != "" && now.After(r.lease.until) {
			r.lease = lease{}
			j.release(run)
		}
	}
}

// Keep implements [Journal].
func (j *MemoryJournal) Keep(_ context.Context, c Claim, k Keeping) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.runs[c.Run]
	if r == nil || r.head.Ended || r.lease.node == "" {
		return nil
	}
	switch k {
	case Held:
		r.lease.until = time.Now().Add(4 * beatEvery)
	case Released:
		r.lease = lease{}
		j.release(c.Run)
	case Ended: // append has seen it
	}
	return nil
}

// mostNotes is how many notes wait for a slow Watch. One that says "look at every run" takes the place of more; commands
// are sent again.
const mostNotes = 1024

// watcher is a call of Watch: what it has not been told yet.
type watcher struct {
	self  string
	bell  chan struct{}
	notes []Note
}

// Watch implements [Reader].
func (j *MemoryJournal) Watch(ctx context.Context, self string, fn func(Note)) error {
	w := &watcher{self: self, bell: make(chan struct{}, 1)}
	j.mu.Lock()
	j.watch = append(j.watch, w)
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.watch = slices.DeleteFunc(j.watch, func(x *watcher) bool { return x == w })
	}()
	fn(Note{})
	for {
		select {
		case <-w.bell:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		j.mu.Lock()
		notes := w.notes
		w.notes = nil
		j.mu.Unlock()
		for _, n := range notes {
			fn(n)
		}
	}
}

// tell leaves a note for everybody who watches but its writer. Under mu.
func (j *MemoryJournal) tell(writer string, n Note) {
	for _, w := range j.watch {
		if n.Command == nil && (w.self == writer && writer != "" || len(w.notes) > 0 && w.notes[len(w.notes)-1] == n) {
			continue
		}
		if len(w.notes) == mostNotes {
			w.notes = append(w.notes[:0:0], Note{})
		}
		w.notes = append(w.notes, n)
		ring(w.bell)
	}
}

// Send implements [Journal].
func (j *MemoryJournal) Send(_ context.Context, c Command) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell("", Note{Run: c.Run, Command: &c})
	return nil
}
