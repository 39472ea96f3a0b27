package host

import (
	"context"
	"net/http"

	"github.com/seed889630bf/lastword/transport/door/inflight"
)

// InFlight counts the calls that are being answered. It leaves out streams that have no end of their own.
type InFlight struct {
	Handler http.Handler

	calls inflight.Count
}

func (a *InFlight) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		a.calls.Begin(0)
		defer a.calls.End()
	}
	a.Handler.ServeHTTP(w, r)
}

// Wait returns when every call is answered or ctx is done.
func (a *InFlight) Wait(ctx context.Context) { a.calls.Wait(ctx) }
