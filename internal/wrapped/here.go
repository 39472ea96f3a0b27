package wrapped

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Func makes a call, and returns the result as its server wrote it.
type Func func(ctx context.Context, c Call) (json.RawMessage, error)

// here are the servers in this process and the runs that wait for them, by name, and the calls that wait for their runs, by
// id. mu guards the fields.
var here = struct {
	mu             sync.Mutex
	servers, calls map[string]Func
	waiting        map[string][]chan<- Func
}{servers: map[string]Func{}, calls: map[string]Func{}, waiting: map[string][]chan<- Func{}}

// Offer lets runs call the tools of a server in this process.
func Offer(server string, f Func) {
	here.mu.Lock()
	defer here.mu.Unlock()
	here.servers[server] = f
	for _, w := range here.waiting[server] {
		w <- f
	}
	delete(here.waiting, server)
}

// Put keeps a call for one run: the run whose input has the returned id may make it, once.
func Put(f Func) (id string) {
	id = rand.Text()
	here.mu.Lock()
	defer here.mu.Unlock()
	here.calls[id] = f
	return id
}

// Drop forgets a call that no run makes.
func Drop(id string) {
	here.mu.Lock()
	defer here.mu.Unlock()
	delete(here.calls, id)
}

type insideKey struct{}

// Inside reports whether a run makes the call of the context.
func Inside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// startTimeout is how long a call waits for its server: a run may go on before its program has made it.
const startTimeout = 30 * time.Second

// Make makes a call of a tool in this process.
func Make(ctx context.Context, c Call) (json.RawMessage, error) {
	f, came := take(c)
	if f == nil && c.Here != "" {
		return nil, messages.Errorf(messages.CauseError, "the program ended before it made the call of %s; call again", c.Tool)
	}
	if f == nil {
		late := time.NewTimer(startTimeout)
		defer late.Stop()
		select {
		case f = <-came:
		case <-late.C:
			return nil, messages.Errorf(messages.CauseError, "the program has not called mcp.Serve for the server %q", c.Server)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return f(context.WithValue(ctx, insideKey{}, true), c)
}

// take returns the function that makes the call, or where it comes.
func take(c Call) (f Func, came chan Func) {
	here.mu.Lock()
	defer here.mu.Unlock()
	if c.Here != "" {
		f = here.calls[c.Here]
		delete(here.calls, c.Here)
		return f, nil
	}
	if f = here.servers[c.Server]; f == nil {
		came = make(chan Func, 1)
		here.waiting[c.Server] = append(here.waiting[c.Server], came)
	}
	return f, came
}
