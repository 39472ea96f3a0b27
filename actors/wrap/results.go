package wrap

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// mostHeld bounds the results that wait for their callers in memory.
const mostHeld = 64

// Results holds the newest results that no log holds, for callers that wait for them.
type Results struct {
	mu    sync.Mutex
	byRun map[messages.RunID]json.RawMessage
	order []messages.RunID
}

func (r *Results) put(id messages.RunID, raw json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byRun == nil {
		r.byRun = map[messages.RunID]json.RawMessage{}
	}
	if len(r.order) == mostHeld {
		delete(r.byRun, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.byRun[id], r.order = raw, append(r.order, id)
}

// Of returns the result of a run, or nil.
func (r *Results) Of(id messages.RunID) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byRun[id]
}
