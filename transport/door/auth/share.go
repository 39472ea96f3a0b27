package auth

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// shares bounds what each caller uses at a time, so that a greedy caller leaves room for the others. A caller is a
// principal or, without tokens, an address. mu guards the fields below it.
type shares struct {
	open   int
	bodies int64

	mu   sync.Mutex
	all  int64             // bytes of bodies that are being handled
	each map[string]*share // callers that use something now
}

// share is what one caller uses: open requests, and bytes of their bodies.
type share struct {
	open   int
	bodies int64
}

// take adds to the caller's share and returns "". If a limit is exceeded, it adds nothing and says which in words, for the
// caller's error message.
func (s *shares) take(caller string, open int, bodies int64) (exceeds string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.each[caller]
	if c == nil {
		c = &share{}
		s.each[caller] = c
	}
	switch {
	case c.open+open > s.open:
		return "too many requests are open"
	case bodies > 0 && (c.bodies+bodies > s.bodies/2 || s.all+bodies > s.bodies):
		return "too many bytes of requests are in hand"
	}
	c.open, c.bodies, s.all = c.open+open, c.bodies+bodies, s.all+bodies
	return ""
}

// give takes back what take has added.
func (s *shares) give(caller string, open int, bodies int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.each[caller]
	c.open, c.bodies, s.all = c.open-open, c.bodies-bodies, s.all-bodies
	if *c == (share{}) {
		delete(s.each, caller)
	}
}

// caller is the caller that a request's messages are counted for. The request's context holds it.
type caller struct {
	checks *Middleware
	name   string
}

type callerKey struct{}

// share serves a request if the caller's share has room for it and its body.
func (m *Middleware) share(w http.ResponseWriter, r *http.Request, name string, door http.Handler) {
	if exceeds := m.shares.take(name, 1, 0); exceeds != "" {
		w.Header().Set("Connection", "close") // else the server would read the body
		m.tooMany(w, time.Second, exceeds)
		return
	}
	bytes := int64(0)
	defer func() { m.shares.give(name, 1, bytes) }()
	if exceeds := m.shares.take(name, 0, max(r.ContentLength, 0)); exceeds != "" {
		_, _ = io.Copy(io.Discard, r.Body) // a client that is cut while it sends would not read the answer
		m.tooMany(w, time.Second, exceeds)
		return
	}
	bytes = max(r.ContentLength, 0)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{m, name}))
	if r.ContentLength < 0 {
		r.Body = &paidBody{ReadCloser: r.Body, pay: func(n int64) error {
			if exceeds := m.shares.take(name, 0, n); exceeds != "" {
				return exceeded("%s; try again later", exceeds)
			}
			bytes += n
			return nil
		}}
	}
	door.ServeHTTP(w, r)
}

// paidBody counts the bytes of a body of unknown length while it is read.
type paidBody struct {
	io.ReadCloser
	pay func(n int64) error
}

func (b *paidBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		if refused := b.pay(int64(n)); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// Message counts a WebSocket message like a request of its caller. It waits until the caller's rate allows it. The
// message's bytes count until done is called. Errors: limit_exceeded, or the error of ctx.
func Message(ctx context.Context, bytes int) (done func(), err error) {
	c, ok := ctx.Value(callerKey{}).(caller)
	if !ok { // the door is not behind a Middleware
		return func() {}, nil
	}
	for wait := c.wait(ctx); wait > 0; wait = c.wait(ctx) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	if exceeds := c.checks.shares.take(c.name, 0, int64(bytes)); exceeds != "" {
		return nil, messages.Errorf(messages.CauseLimitExceeded, "%s; try again later", exceeds)
	}
	return sync.OnceFunc(func() { c.checks.shares.give(c.name, 0, int64(bytes)) }), nil
}

// wait counts a message and returns 0, or returns how long the caller must wait.
func (c caller) wait(ctx context.Context) time.Duration {
	if _, granted := ctx.Value(grantKey{}).(*grant); granted {
		return c.checks.byName.take(c.name)
	}
	return c.checks.messages.take(c.name)
}
