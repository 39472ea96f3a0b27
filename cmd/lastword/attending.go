package main

import (
	"context"
	"net/http"
	"sync"
)

// attending counts the calls that are being answered, of requests to a door. Streams without an end of their own are
// not among them.
type attending struct {
	door http.Handler

	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n is 0 again; nil if nobody waits
}

func (a *attending) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		a.add(1)
		defer a.add(-1)
	}
	a.door.ServeHTTP(w, r)
}

func (a *attending) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n += n; a.n == 0 && a.idle != nil {
		close(a.idle)
		a.idle = nil
	}
}

// wait returns when every call is answered, or ctx is done.
func (a *attending) wait(ctx context.Context) {
	select {
	case <-a.answered():
	case <-ctx.Done():
	}
}

func (a *attending) answered() <-chan struct{} {
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
