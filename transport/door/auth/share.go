package auth

import (
	"container/list"
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
				return messages.LimitExceeded("%s; try again later", exceeds)
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

// Read implements io.Reader. It returns no bytes that the share refuses.
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
		return nil, messages.LimitExceeded("%s; try again later", exceeds)
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

const (
	// maxBuckets bounds the memory that the buckets take.
	maxBuckets = 10_000
	// keepIdle is how long a full bucket is kept. A missing bucket counts as full, so this only saves allocations.
	keepIdle = time.Minute
)

// buckets is a token-bucket rate limiter with one bucket per key. A bucket is stored as the time at which it will be
// full again. The zero time is a full bucket, so that unknown and idle keys are the same.
type buckets[K comparable] struct {
	interval time.Duration // between two calls at the rate
	depth    time.Duration // how far a bucket's time may lie in the future: burst calls
	start    time.Time

	// mu guards the fields below it.
	mu    sync.Mutex
	byKey map[K]*list.Element
	used  list.List // of *bucket[K], the most recently used first
}

type bucket[K comparable] struct {
	key  K
	full time.Duration // since start
}

// newBuckets returns a limiter. For a negative rate it is nil, which never refuses.
func newBuckets[K comparable](rate float64, burst int) *buckets[K] {
	if rate < 0 {
		return nil
	}
	// The depth is at most an hour times a million, which does not overflow.
	interval := time.Duration(min(float64(time.Second)/rate, float64(time.Hour)))
	depth := interval * time.Duration(min(max(burst, 1), 1_000_000))
	return &buckets[K]{interval: interval, depth: depth, start: time.Now(), byKey: map[K]*list.Element{}}
}

// take counts a call and returns 0. If the bucket is empty, it counts nothing and returns how long the caller must
// wait.
func (b *buckets[K]) take(key K) time.Duration {
	if b == nil {
		return 0
	}
	now := time.Since(b.start)
	b.mu.Lock()
	defer b.mu.Unlock()
	for range 2 { // drop buckets that have been full for a while; two suffice, because a call adds at most one
		if last := b.used.Back(); last != nil && last.Value.(*bucket[K]).full+keepIdle <= now {
			b.remove(last)
		}
	}
	k := b.of(key)
	full := max(k.full, now) + b.interval
	if wait := full - now - b.depth; wait > 0 {
		return wait
	}
	k.full = full
	return 0
}

// of returns the key's bucket and marks it as used. If there are too many buckets, it removes the least recently used.
func (b *buckets[K]) of(key K) *bucket[K] {
	if e, ok := b.byKey[key]; ok {
		b.used.MoveToFront(e)
		return e.Value.(*bucket[K])
	}
	if len(b.byKey) >= maxBuckets {
		b.remove(b.used.Back())
	}
	k := &bucket[K]{key: key}
	b.byKey[key] = b.used.PushFront(k)
	return k
}

func (b *buckets[K]) remove(e *list.Element) { delete(b.byKey, b.used.Remove(e).(*bucket[K]).key) }
