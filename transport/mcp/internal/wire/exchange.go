package wire

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
)

// Exchange is one request in progress. Its methods are safe for concurrent use.
//
// The first group of fields never changes. The context ends when the request is cancelled or answered.
type Exchange struct {
	server  *Server
	session *Session // nil for versions without sessions
	table   *requestTable
	key     string // its key in the table
	name    string // for mcp-go: the id of the session, or a name for the request
	msg     message
	modern  bool   // the protocol version has no sessions
	out     stream // where messages to the client go

	ctx      context.Context
	cancel   context.CancelCauseFunc
	opened   string       // the id of the session that the request has begun
	noAnswer atomic.Bool  // the client must get no answer
	held     atomic.Int64 // bytes reserved by Hold

	capabilities atomic.Pointer[mcp.ClientCapabilities]
	override     atomic.Pointer[outcome] // the outcome that replaces the method's
	place        atomic.Pointer[string]  // the event id at which the client can resume

	mu       sync.Mutex // held while a message is written, which a slow client may delay
	answered bool
}

// stream is the connection that an exchange writes to. Its methods are called with the exchange's lock held.
type stream interface {
	// send writes a notification or a question. id is the event id, or "".
	send(id string, message []byte) error
	// answer writes the answer. fail is the error in it, or nil.
	answer(message []byte, fail *Error)
	// takesEvents reports whether the client reads messages before the answer.
	takesEvents() bool
}

// outcome is what a handler returned: a result or an error.
type outcome struct {
	result any
	fail   *Error
	batch  [][]byte // the answers of a batch
}

type exchangeKey struct{}

// From returns the exchange of a handler's context. It returns nil for handlers of notifications, which have no answer.
func From(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// ID returns the request's JSON-RPC id as the client wrote it.
func (x *Exchange) ID() json.RawMessage { return x.msg.id }

// Method returns the request's method.
func (x *Exchange) Method() string { return x.msg.method }

// Params returns the request's parameters as the client wrote them.
func (x *Exchange) Params() json.RawMessage { return x.msg.params }

// Meta returns the _meta of the parameters as the client wrote it, or nil.
func (x *Exchange) Meta() json.RawMessage { return x.msg.meta.all }

// Modern reports whether the request's protocol version has no sessions: 2026-07-28 or later.
func (x *Exchange) Modern() bool { return x.modern }

// Version returns the protocol version of the request or of its session. It may be "".
func (x *Exchange) Version() string {
	if x.modern || x.session == nil {
		return x.msg.meta.version
	}
	return x.session.client().version
}

// Capabilities returns what the client declared in this request or, for a session, when the session began.
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

// Extension reports whether the client declared the extension, see [Exchange.Capabilities].
func (x *Exchange) Extension(name string) bool {
	_, ok := x.Capabilities().Extensions[name]
	return ok
}

// Elicits reports whether the client can ask its user questions.
func (x *Exchange) Elicits() bool { return x.Capabilities().Elicitation != nil }

// ProgressToken returns the progress token as the client wrote it, a string or a number. It is nil without one.
func (x *Exchange) ProgressToken() json.RawMessage { return x.msg.meta.token }

// Session returns the request's session. It is nil for versions without sessions. On stdio there is one session.
func (x *Exchange) Session() *Session { return x.session }

// Notify writes a notification to the request's own stream, in order, before the result. It blocks while the client
// reads too slowly. It returns an error after the result, or if the client has disconnected. If an HTTP client does not
// accept event streams, it does nothing.
func (x *Exchange) Notify(method string, params any) error { return x.notify("", method, params) }

// Reply sets the result that the client gets instead of the handler's. It is completed in the same way as the result of
// a [Method].
func (x *Exchange) Reply(result any) {
	o := x.outcomeOf(result, nil)
	x.override.Store(&o)
}

// Fail sets the JSON-RPC error that the client gets instead of what the handler returns. An error with a Scope is not
// replaced by later calls.
func (x *Exchange) Fail(e *Error) {
	if set := x.override.Load(); set == nil || set.fail == nil || set.fail.Scope == "" {
		x.override.Store(&outcome{fail: e})
	}
}

func (x *Exchange) notify(eventID, method string, params any) error {
	message, err := encode(jsonrpc.RPCMessage{Method: method, Params: params})
	if err != nil {
		return err
	}
	return x.write(eventID, message)
}

// write writes the message, unless the exchange has been answered or its client has disconnected.
func (x *Exchange) write(eventID string, message []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.answered {
		return errEnded
	}
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	if err := x.out.send(eventID, message); err != nil {
		x.disconnected()
		return context.Cause(x.ctx)
	}
	return nil
}

// stop ends the exchange's context. If the client cancelled, it gets no answer.
func (x *Exchange) stop(cause error) {
	if errors.Is(cause, ErrCanceled) {
		x.noAnswer.Store(true)
	}
	x.cancel(cause)
	if p, ok := x.out.(*response); ok {
		p.abort()
	}
}

// abandon stops the exchange, and makes sure that no answer is written.
func (x *Exchange) abandon() {
	x.noAnswer.Store(true)
	x.disconnected()
}

// disconnected stops the exchange after its client has disconnected.
func (x *Exchange) disconnected() {
	if x.modern && x.table == &x.server.modern {
		x.stop(errStreamClosed)
		return
	}
	x.stop(ErrDisconnected)
}

var (
	errClosed = errorf(codeBusy, "the session has ended just now")
	errBusy   = errorf(codeBusy, "too many requests are in flight: wait for an answer")
	errTaken  = errorf(mcp.INVALID_REQUEST, "a request with this id is in flight")
)

// requestTable holds a client's requests in flight, by their ids as written: 1 and "1" are different ids.
type requestTable struct {
	mu     sync.Mutex // guards open and closed
	open   map[string]*Exchange
	closed bool

	touched atomic.Int64 // when the last request began or ended, in nanoseconds
}

func (r *requestTable) touch() { r.touched.Store(time.Now().UnixNano()) }

// add adds a request. It returns errClosed, errBusy or errTaken if the request is refused.
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

// remove removes an exchange. Another one may have taken its key meanwhile, and stays.
func (r *requestTable) remove(x *Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touch() // whoever finds the table empty must find this time, too
	if r.open[x.key] == x {
		delete(r.open, x.key)
	}
}

// take is add for an exchange that continues another one whose stream broke. It stops the other one.
func (r *requestTable) take(x *Exchange, limit int) *Error {
	r.mu.Lock()
	old := r.open[x.key]
	delete(r.open, x.key)
	r.mu.Unlock()
	if old != nil {
		old.abandon()
	}
	return r.add(x, limit)
}

func (r *requestTable) find(key string) *Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[key]
}

// close refuses further requests and stops those in flight.
func (r *requestTable) close(cause error) {
	r.mu.Lock()
	r.closed = true
	open := slices.Collect(maps.Values(r.open))
	r.mu.Unlock()
	for _, x := range open {
		x.stop(cause)
	}
}

// longAnswers is how many answers of the maximum message size may be in memory at a time.
const longAnswers = 16

// Hold reserves memory for a long answer until it is written, which a slow client can delay. It returns false if there
// is no room.
func (x *Exchange) Hold(bytes int64) bool {
	s := x.server
	if s.answerBytes.Add(bytes) > longAnswers*s.config.Message {
		s.answerBytes.Add(-bytes)
		return false
	}
	x.held.Add(bytes)
	return true
}
