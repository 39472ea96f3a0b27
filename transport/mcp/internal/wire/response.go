package wire

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
	comment    = ": keep-alive\n\n"
)

// response is the HTTP response to a request: JSON if it consists of the answer only, else an event stream. mu guards
// over; the exchange's lock guards the rest.
type response struct {
	x        *Exchange
	w        http.ResponseWriter
	json     bool             // the client accepts JSON
	stream   *door.Stream     // nil if the client accepts no event stream
	beats    *door.Heartbeats // the heartbeats of stream
	complete bool             // the answer was written

	mu   sync.Mutex
	over bool // the handler has returned, so nothing may be written
}

// accepts reports whether the client accepts the media type. Without an Accept header it accepts all.
func accepts(r *http.Request, mediaType string) bool {
	_, err := door.Accepts(strings.Join(r.Header["Accept"], ","), mediaType)
	return err == nil
}

// respond creates the response and makes it the exchange's stream.
func (x *Exchange) respond(w http.ResponseWriter, r *http.Request) *response {
	p := &response{x: x, w: w, json: accepts(r, typeJSON)}
	// The answer to initialize names the session in a header, so that nothing is written before it.
	if accepts(r, typeEvents) && !(p.json && x.msg.method == methodInitialize) {
		p.stream = x.server.config.Door.Stream(w, typeEvents)
	}
	x.out = p
	return p
}

// serve runs the exchange. After it returns, nothing is written to the response.
func (p *response) serve(r *http.Request) {
	if p.stream != nil {
		p.beats = p.x.server.config.Door.Heartbeats(r.Context(), p.stream, p.beat, func(error) { p.x.disconnected() })
		defer p.beats.Stop()
	}
	defer context.AfterFunc(r.Context(), func() {
		// Without another cause, the client has disconnected. A client whose token was revoked is treated in the same way.
		if cause := context.Cause(r.Context()); !errors.Is(cause, context.Canceled) && !errors.Is(cause, auth.ErrRevoked) {
			p.x.stop(cause)
			return
		}
		p.x.abandon()
	})()
	defer p.end()
	p.x.run()
	if !p.complete && !p.ended() {
		p.w.WriteHeader(http.StatusAccepted)
	}
}

func (p *response) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// abort interrupts a write that waits for a client that does not read. A client that reads has one more second.
func (p *response) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
	case p.x.mu.TryLock(): // no write is under way
		p.x.mu.Unlock()
	default:
		_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(time.Second))
	}
}

// beat writes a comment. If the client does not yet know where to resume, it writes that instead, because the
// connection may break before the first message.
func (p *response) beat() {
	text := comment
	if id := p.x.place.Load(); id != nil && p.x.primes() && !p.stream.Begun() {
		text = "id: " + *id + "\ndata: \n\n"
	}
	_, _ = p.stream.WriteString(text) // Flush reports the error
}

// ended stops the heartbeats, and reports whether the event stream has begun.
func (p *response) ended() (begun bool) {
	if p.stream == nil {
		return false
	}
	p.beats.Stop()
	return p.stream.Begun()
}

// send writes a message to the event stream. If the client accepts none, the message is dropped.
func (p *response) send(id string, message []byte) error {
	if p.stream == nil {
		return nil
	}
	return p.beats.Do(func() (bool, error) {
		appendMessage(p.stream, id, message)
		return false, nil
	})
}

// appendMessage appends a message as a server-sent event. The id may be "".
func appendMessage(to *door.Stream, id string, message []byte) {
	to.Append(func(b []byte) []byte {
		if id != "" {
			b = append(append(append(b, "id: "...), id...), '\n')
		}
		return door.AppendEvent(b, "message", message)
	})
}

// answer writes the answer: as the last event if the stream has begun, or else as the JSON body with a status of its
// own.
func (p *response) answer(message []byte, fail *Error) {
	p.complete = true
	begun := p.ended()
	if p.x.opened != "" {
		p.w.Header().Set(mcp.HeaderSessionID, p.x.opened)
	}
	if begun || p.stream != nil && !p.json && fail == nil {
		appendMessage(p.stream, "", message)
		p.stream.End() // a client that left needs no answer
		return
	}
	message = p.x.server.config.Door.Redact(message)
	status := http.StatusOK
	h := p.w.Header()
	if fail != nil {
		status = p.statusOf(fail)
	}
	if status == http.StatusForbidden {
		h.Set("WWW-Authenticate", auth.Challenge(p.x.ctx, fail.Scope))
	}
	h.Set("Content-Type", typeJSON)
	h.Set("Content-Length", strconv.Itoa(len(message)))
	p.w.WriteHeader(status)
	_, _ = p.x.server.config.Door.Timed(p.w).Write(message)
}

func (p *response) takesEvents() bool { return p.stream != nil }

// statusOf returns the HTTP status for an error. Clients up to 2025-11-25 get 200, unless a scope is missing.
func (p *response) statusOf(fail *Error) int {
	switch {
	case fail.Scope != "":
		return http.StatusForbidden
	case !p.x.modern:
		return http.StatusOK
	}
	switch fail.Code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
