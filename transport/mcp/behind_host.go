package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// host is a client that waits: for a run or, without one, for an answer of a server behind.
type host struct {
	principal string
	run       messages.RunID
	stop      func() // ends the wait for the run
}

// Changed says that a list, or the resource with the URI, of a server behind this one has changed.
func (s *Server) Changed(method, uri string) {
	if uri == "" {
		s.listed(method)
		return
	}
	s.Updated(uri)
}

// attend says that x waits for the run, or for a server behind, until the returned function is called. So the servers
// can ask its client. stop ends its wait, if servers then ask in the result.
func (b *behind) attend(ctx context.Context, x *wire.Exchange, run messages.RunID, stop func()) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, was := b.hosts[x]
	b.hosts[x] = host{auth.From(ctx).Name, run, stop}
	close(b.came)
	b.came = make(chan struct{})
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if delete(b.hosts, x); was {
			b.hosts[x] = before
		}
	}
}

// setLevel passes the level of log messages on to all servers.
func (b *behind) setLevel(ctx context.Context, x *wire.Exchange) (any, error) {
	if x.Modern() {
		return nil, wire.NoMethod()
	}
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	b.Behind.PassAll(ctx, caller(ctx, x), x.Method(), edit(x.Params(), "_meta", nil), source.ListPatience)
	return struct{}{}, nil
}

// hostTimeout is how long a server's question waits for a client of the principal to call.
const hostTimeout = 5 * time.Second

// AskClient puts a request of a server behind to the client that waits for the run or, without a run, to one of the
// principal's clients.
func (s *Server) AskClient(ctx context.Context, principal, run, method string, params json.RawMessage) (answer json.RawMessage, err error) {
	b, late := s.behind, time.NewTimer(hostTimeout)
	defer late.Stop()
	wish, end, err := b.asker.Wish(messages.RunID(run), mcp.MCPMethod(method), params)
	defer end()
	if err != nil {
		return nil, err
	}
	for {
		x, came := b.host(principal, messages.RunID(run))
		if x != nil {
			err = x.Ask(ctx, mcp.MCPMethod(method), params, &answer)
			return answer, err
		}
		select {
		case <-came:
		case <-wish.Taken: // the client takes its time
			late.Stop()
		case answer := <-wish.Answer:
			return answer, nil
		case <-late.C:
			return nil, fmt.Errorf("no client waits that could answer %s", method)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// host returns the exchange of a client that can be asked, or nil and what is closed when another one comes. It ends the
// waits of clients without a session that then get wishes.
func (b *behind) host(principal string, run messages.RunID) (*wire.Exchange, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for x, waits := range b.hosts {
		if waits.stop != nil && len(b.asker.Wishes(x, waits.run)) > 0 {
			waits.stop()
		}
		if x.Session() != nil && (waits.run == run || run == "") && (waits.principal == principal || principal == "") {
			return x, b.came
		}
	}
	return nil, b.came
}
