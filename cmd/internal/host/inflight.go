package host

import (
	"context"
	"net/http"
	"sync"
)

// InFlight counts the calls that are being answered, of requests to a door. Streams without an end of their own are
// not among them.
type InFlight struct {
	Handler http.Handler

	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n is 0 again; nil if nobody waits
}

func (a *InFlight) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		a.add(1)
		defer a.add(-1)
	}
	a.Handler.ServeHTTP(w, r)
}

func (a *InFlight) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n += n; a.n == 0 && a.idle != nil {
		close(a.idle)
		a.idle = nil
	}
}

// Wait returns when every call is answered, or ctx is done.
func (a *InFlight) Wait(ctx context.Context) {
	select {
	case <-a.zero():
	case <-ctx.Done():
	}
}

func (a *InFlight) zero() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if a.idle == nil {
		a.idle = make(chan struct{})
	}
	return a.idle
}
