package journal

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// LeaseTerm is how often a node must say that it holds a claim. After four times as long the run is lent again.
const LeaseTerm = 2500 * time.Millisecond

// Leases holds the unfinished runs of a journal. Each is offered to one node, free for any node, or held by a node. The
// zero Leases is empty and ready for use. It is safe for concurrent use.
type Leases struct {
	mu      sync.Mutex
	holders map[messages.RunID]holder
	offered map[string][]messages.RunID // by the node that may claim them first
	free    []messages.RunID            // runs that any node may claim
	most    int                         // greatest number of holders so far
	wakers  []chan struct{}             // one for each node that waits
}

// holder is the node that holds a run, or the node that the run is offered to, and until when. A free run has the
// zero holder.
type holder struct {
	node  string
	until time.Time
}

// Offer adds a run that only the node may claim for a while, or any node if that is "".
func (r *Leases) Offer(run messages.RunID, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders == nil {
		r.holders = map[messages.RunID]holder{}
	}
	if r.offered == nil {
		r.offered = map[string][]messages.RunID{}
	}
	if node == "" {
		r.release(run)
		return
	}
	r.hold(run, node)
	r.offered[node] = append(r.offered[node], run)
	r.wake()
}

// hold makes the node the holder from now on. mu must be held.
func (r *Leases) hold(run messages.RunID, node string) {
	r.holders[run] = holder{node, time.Now().Add(4 * LeaseTerm)}
	r.most = max(r.most, len(r.holders))
}

// release makes the run free. mu must be held.
func (r *Leases) release(run messages.RunID) {
	r.holders[run] = holder{}
	r.free = append(r.free, run)
	r.wake()
}

func (r *Leases) wake() {
	for _, wake := range r.wakers {
		notify(wake)
	}
}

func notify(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Hold renews the claim of the node that holds the run.
func (r *Leases) Hold(run messages.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if node := r.holders[run].node; node != "" {
		r.hold(run, node)
	}
}

// Release returns a claimed run, for any node.
func (r *Leases) Release(run messages.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders[run].node != "" {
		r.release(run)
	}
}

// End removes a run that has ended.
func (r *Leases) End(run messages.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.holders, run); len(r.holders) == 0 && r.most > 8 {
		r.holders, r.most = nil, 0 // a large map keeps its buckets
	}
}

// Claim waits for a run that no node holds, and lends it to the node. If ctx is done, it returns what can be claimed
// at once.
func (r *Leases) Claim(ctx context.Context, node string) (messages.RunID, error) {
	if run, found := r.claim(node); found {
		return run, nil
	}
	wake := make(chan struct{}, 1)
	r.mu.Lock()
	r.wakers = append(r.wakers, wake)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wakers = slices.DeleteFunc(r.wakers, func(b chan struct{}) bool { return b == wake })
	}()
	if ctx.Err() != nil {
		r.reclaim() // there will be no tick
	}
	tick := time.NewTicker(LeaseTerm)
	defer tick.Stop()
	for {
		if run, found := r.claim(node); found {
			return run, nil
		}
		select {
		case <-wake:
		case <-tick.C:
			r.reclaim()
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// claim lends the node a run. It prefers those offered to the node.
func (r *Leases) claim(node string) (messages.RunID, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	offered := r.offered[node]
	for len(offered) > 0 {
		run := offered[0]
		if offered = offered[1:]; len(offered) == 0 {
			delete(r.offered, node)
		} else {
			r.offered[node] = offered
		}
		if h, open := r.holders[run]; open && h.node == node {
			r.hold(run, node)
			return run, true
		}
	}
	for len(r.free) > 0 {
		run := r.free[0]
		r.free = r.free[1:]
		if _, open := r.holders[run]; open {
			r.hold(run, node)
			return run, true
		}
	}
	return "", false
}

// reclaim frees the runs whose node is silent.
func (r *Leases) reclaim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for run, h := range r.holders {
		if h.node != "" && now.After(h.until) {
			r.release(run)
		}
	}
}
