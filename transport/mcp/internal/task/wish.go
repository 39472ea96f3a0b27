package task

import (
	"crypto/rand"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Wish is a request of a server behind a run that the run's client answers, and not its people: for a message of a model, or
// for roots. A client without a session gets it in a result, as it gets questions. It is in memory alone.
type Wish struct {
	Taken  chan struct{}        // gets a value when a client has the wish
	Answer chan json.RawMessage // gets what the client answers

	run     messages.RunID
	request mcp.InputRequest
}

// takes reports whether requests of the method can be wishes for the client of x.
func takes(x *wire.Exchange, method mcp.MCPMethod) bool {
	can := x.Capabilities()
	return x.Modern() && (method == mcp.MethodSamplingCreateMessage && can.Sampling != nil || method == mcp.MethodListRoots && can.Roots != nil)
}

// Wish makes a wish. It is there until end is called.
func (a *Asker) Wish(run messages.RunID, method mcp.MCPMethod, params json.RawMessage) (w *Wish, end func(), err error) {
	w = &Wish{make(chan struct{}, 1), make(chan json.RawMessage, 1), run, mcp.InputRequest{Method: method}}
	if method == mcp.MethodSamplingCreateMessage {
		err = json.Unmarshal(params, &w.request.Sampling)
	}
	id := string(method) + " " + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wishes[id] = w
	return w, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.wishes, id)
	}, err
}

// Wishes returns the wishes of the run that the client of x can answer, by their names. The client has them from then on.
func (a *Asker) Wishes(x *wire.Exchange, run messages.RunID) mcp.InputRequests {
	a.mu.Lock()
	defer a.mu.Unlock()
	open := mcp.InputRequests{}
	for id, w := range a.wishes {
		if w.run == run && takes(x, w.request.Method) {
			open[id] = w.request
			select {
			case w.Taken <- struct{}{}:
			default:
			}
		}
	}
	return open
}

// grant passes responses to the wishes of the run.
func (a *Asker) grant(run messages.RunID, responses map[string]json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, response := range responses {
		if w := a.wishes[id]; w != nil && w.run == run {
			delete(a.wishes, id)
			w.Answer <- response
		}
	}
}
