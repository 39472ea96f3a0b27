package host

import (
	"context"
	"net/http"

	"github.com/seed889630bf/lastword/internal/server"
)

// InFlight counts the calls that are in progress, except for endless streams.
type InFlight struct {
	Handler http.Handler

	calls server.Count
}

// ServeHTTP counts POSTs. Subscriptions last as long as their client, so the end does not wait for them.
func (a *InFlight) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		a.calls.Begin(0)
		defer a.calls.End()
	}
	a.Handler.ServeHTTP(w, r)
}

// Wait returns when no call is in progress or ctx is done.
func (a *InFlight) Wait(ctx context.Context) { a.calls.Wait(ctx) }
