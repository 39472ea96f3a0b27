package wire

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// Exchange is one request that is being answered. Its methods may be called from any goroutine.
type Exchange struct {
	server  *Server
	session *Session // nil where the protocol has none
	view    view
	table   *requestTable
	key     string // in the table
	name    string // of the session, or of the request where there is none, for mcp-go
	msg     message
	modern  bool
	listens bool // it is a stream of subscriptions that mcp-go serves
	out     stream

	ctx    context.Context
	cancel context.CancelCauseFunc
	silent atomic.Bool // the client gets no answer
	held   atomic.Int64

	info         atomic.Pointer[mcp.Implementation]
	capabilities atomic.Pointer[mcp.ClientCapabilities]
	filter       atomic.Pointer[mcp.SubscriptionFilter]
	relay        atomic.Pointer[relay]
	override     atomic.Pointer[outcome]
	void         atomic.Pointer[<-chan struct{}] // closed when nobody waits any more for what is asked

	waiting  atomic.Int32 // writers that want mu
	mu       sync.Mutex   // held while something is written, as long as the client takes
	answered bool
}

// stream is where an exchange writes, under its lock.
type stream interface {
	// send writes a message that is not the answer. more says that somebody else waits to write.
	send(f *frame, more bool) error
	// answer writes the answer; fail is the error that it is, or nil.
	answer(f *frame, fail *Error)
	// takesEvents reports whether the client reads what comes before the answer.
	takesEvents() bool
	// hurry is called without the lock when the exchange is stopped: a write that blocks is to end soon.
	hurry()
}

// outcome is what a handler came to.
type outcome struct {
	result any
	fail   *Error
	batch  [][]byte // the answers to the requests of a batch
}

type exchangeKey struct{}

// From returns the exchange of a handler's context. Every context that a handler or a Method is given has one; those of
// notifications' handlers, which answer nothing, have none, and From returns nil.
func From(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// ID is the request's JSON-RPC id as it came.
func (x *Exchange) ID() json.RawMessage { return x.msg.id }

// Params are the request's parameters as they came.
func (x *Exchange) Params() json.RawMessage { return x.msg.params }

// Modern reports whether the request is of the protocol without sessions, 2026-07-28 or later.
func (x *Exchange) Modern() bool { return x.modern }

// Version is the protocol's version: the request's own, else the session's; "" where neither said.
func (x *Exchange) Version() string {
	if x.modern || x.session == nil {
		return x.msg.meta.version
	}
	return x.session.client().version
}

// Capabilities are what the client said it can do, in this request, else when its session began.
func (x *Exchange) Capabilities() mcp.ClientCapabilities {
	if x.session != nil {
		return x.session.client().capabilities
	}
	known := x.capabilities.Load()
	if known == nil {
		known = new(mcp.ClientCapabilities)
		_ = json.Unmarshal(x.msg.meta.capabilities, known)
		x.capabilities.Store(known)
	}
	return *known
}

// Extension reports whether the client declared the extension: in this request, else when its session began.
func (x *Exchange) Extension(name string) bool {
	_, ok := x.Capabilities().Extensions[name]
	return ok
}

// Elicits reports whether the client can ask its user.
func (x *Exchange) Elicits() bool { return x.Capabilities().Elicitation != nil }

// ProgressToken is the token of the request's _meta as it came, a string or a number, or nil.
func (x *Exchange) ProgressToken() json.RawMessage { return x.msg.meta.token }

// Session is the session that the request came in: one per process on stdio; nil where the protocol has none.
func (x *Exchange) Session() *Session { return x.session }

// Notify writes a notification on the request's own stream, in order, before the result; it blocks while the client
// reads too slowly. It returns an error once the exchange has its result or the client is gone, and writes nothing
// then. For a client over HTTP that does not accept event streams it does nothing.
func (x *Exchange) Notify(method string, params any) error {
	if r := x.relay.Load(); r != nil {
		r.settle()
	}
	return x.notify(method, params)
}

// Reply sets the result that the client gets, as it is, in place of what the handler returns.
func (x *Exchange) Reply(result any) { x.override.Store(&outcome{result: result}) }

// Fail sets the JSON-RPC error that the client gets in place of what the handler returns. One with a Scope stays, whatever
// is set after it.
func (x *Exchange) Fail(e *Error) {
	if set := x.override.Load(); set == nil || set.fail == nil || set.fail.Scope == "" {
		x.override.Store(&outcome{fail: e})
	}
}

func (x *Exchange) notify(method string, params any) error {
	f, err := callFrame("", method, params)
	if err != nil {
		return err
	}
	defer f.free()
	return x.write(f)
}

// write writes the message, unless the exchange has its answer or its client is gone.
func (x *Exchange) write(f *frame) error {
	x.server.clean(f)
	x.waiting.Add(1)
	x.mu.Lock()
	defer x.mu.Unlock()
	more := x.waiting.Add(-1) > 0
	if x.answered {
		return errEnded
	}
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	if err := x.out.send(f, more); err != nil {
		x.left()
		return context.Cause(x.ctx)
	}
	return nil
}

// stop ends the exchange's context. Who cancelled gets no answer.
func (x *Exchange) stop(cause error) {
	if errors.Is(cause, ErrCanceled) {
		x.silent.Store(true)
	}
	x.cancel(cause)
	x.out.hurry()
}

// drop is left for a client that the answer cannot reach, or must not.
func (x *Exchange) drop() {
	x.silent.Store(true)
	x.left()
}

// left is called when the client is gone.
func (x *Exchange) left() {
	if x.table == &x.server.modern {
		x.stop(errStreamClosed)
		return
	}
	x.stop(ErrDisconnected)
}

var (
	errClosed = errorf(codeBusy, "the session has ended")
	errBusy   = errorf(codeBusy, "too many requests are in flight: wait for an answer")
	errTaken  = errorf(mcp.INVALID_REQUEST, "a request with this id is in flight")
)

// requestTable holds the requests of one client that are in flight, by id as it came: 1 and "1" are two.
type requestTable struct {
	mu     sync.Mutex
	open   map[string]*Exchange
	closed bool
}

// add refuses with errClosed, errBusy or errTaken.
func (r *requestTable) add(x *Exchange, limit int) *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return errClosed
	case limit > 0 && len(r.open) >= limit:
		return errBusy
	case r.open[x.key] != nil:
		return errTaken
	case r.open == nil:
		r.open = map[string]*Exchange{}
	}
	r.open[x.key] = x
	return nil
}

func (r *requestTable) remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, key)
}

func (r *requestTable) find(key string) *Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[key]
}

// close refuses requests from now on and stops those in flight. It reports whether it was the first call.
func (r *requestTable) close(cause error) bool {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	open := slices.Collect(maps.Values(r.open))
	r.mu.Unlock()
	for _, x := range open {
		x.stop(cause)
	}
	return first
}

// Hold counts the bytes of what will be a long answer, from now until it is written, which takes as long as its client
// likes. It reports whether there was room: all answers together may hold 16 times the longest message.
func (x *Exchange) Hold(bytes int64) bool {
	s := x.server
	if s.answers.Add(bytes) > longest*s.config.Message {
		s.answers.Add(-bytes)
		return false
	}
	x.held.Add(bytes)
	return true
}

func (x *Exchange) unhold() { x.server.answers.Add(-x.held.Swap(0)) }
