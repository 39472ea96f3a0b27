package wire

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// response is the response to a request over HTTP: JSON if there is only the answer, else an event stream.
type response struct {
	eventStream
	x         *Exchange
	takes     acceptable
	keepAlive time.Duration
	timer     *time.Timer
	complete  bool // the answer was written
}

type acceptable struct{ events, json bool }

// accepts reads the Accept header. Without one the client accepts everything.
func accepts(r *http.Request) (a acceptable) {
	values := r.Header["Accept"]
	if len(values) == 0 {
		return acceptable{true, true}
	}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		media, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
		case "*/*":
			a.events, a.json = true, true
		case "text/event-stream", "text/*":
			a.events = true
		case "application/json", "application/*":
			a.json = true
		}
	}
	return a
}

// watch starts the keep-alive comments.
func (p *response) watch() {
	p.timer = time.AfterFunc(math.MaxInt64, p.keepAliveNow) // which reads timer
	p.timer.Reset(p.keepAlive)
}

// keepAliveNow writes a keep-alive comment if nobody else is writing.
func (p *response) keepAliveNow() {
	next := p.keepAlive
	if p.x.mu.TryLock() {
		defer p.x.mu.Unlock()
		if p.x.answered {
			return
		}
		var err error
		if p.takes.events {
			next, err = p.eventStream.keepAliveNow(p.silence())
		}
		if err != nil {
			p.x.disconnected()
			return
		}
	}
	p.timer.Reset(next)
}

const keepAliveComment = ": keep-alive\n\n"

// silence returns how long the stream may be silent, and what is written then: first the place to go on from, since a
// client may be cut off before there is anything else to say.
func (p *response) silence() (time.Duration, string) {
	if id := p.x.place.Load(); id != nil && !p.started && p.x.Version() >= mcp.ProtocolVersion20251125 {
		return min(primeAfter, p.keepAlive), "id: " + *id + "\ndata: \n\n"
	}
	return p.keepAlive, keepAliveComment
}

func (p *response) send(f *frame, more bool) error {
	if !p.takes.events {
		return nil
	}
	p.begin()
	if err := p.put(f, f.event()); err != nil || more {
		return err
	}
	return p.flush()
}

func (p *response) answer(f *frame, fail *Error) {
	p.complete = true
	p.timer.Stop()
	if !p.started && (p.takes.json || !p.takes.events || fail != nil) {
		p.answerJSON(f, fail)
		return
	}
	p.begin()
	_ = p.put(f, f.event())
}

func (p *response) answerJSON(f *frame, fail *Error) {
	text := f.json()
	status := http.StatusOK
	if fail != nil {
		p.session = ""
		status = p.statusOf(fail)
	}
	h := p.header()
	if status == http.StatusForbidden {
		h.Set("WWW-Authenticate", auth.Challenge(p.x.ctx, fail.Scope))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	p.w.WriteHeader(status)
	_ = p.put(f, text)
}

func (p *response) takesEvents() bool { return p.takes.events }

// abortWrite does nothing if nobody is writing.
func (p *response) abortWrite() {
	if p.x.mu.TryLock() {
		p.x.mu.Unlock()
		return
	}
	p.eventStream.abortWrite()
}

// statusOf returns the status for an error. Clients up to 2025-11-25 get 200, unless a scope is missing.
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

const (
	// writeChunk is how many bytes are written under one deadline.
	writeChunk = 32 << 10
	// abortTimeout is how long a blocked write may still take once its exchange has been stopped.
	abortTimeout = time.Second
)

// eventStream is a response that becomes an event stream with the first event. Its owner serializes the calls.
type eventStream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	stall    time.Duration
	session  string // for the header; "" for none
	perIO    bool   // the deadline must not outlive a write: it would end an idle stream of HTTP/2
	started  bool
	wrote    time.Time // when last written
	extended time.Time // when the deadline was last set
	aborted  atomic.Bool

	guard sync.Mutex
	over  bool // the response is no longer ours
}

func (s *Server) newEventStream(w http.ResponseWriter, r *http.Request) eventStream {
	return eventStream{w: w, control: http.NewResponseController(w), stall: s.config.Stall, perIO: r.ProtoMajor > 1,
		wrote: time.Now()}
}

// begin starts the stream. The headers go out with the next write.
func (e *eventStream) begin() {
	if e.started {
		return
	}
	e.started = true
	h := e.header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	e.w.WriteHeader(http.StatusOK)
}

func (e *eventStream) header() http.Header {
	h := e.w.Header()
	if e.session != "" {
		h.Set("Mcp-Session-Id", e.session)
	}
	return h
}

// put writes text, a part of the frame.
func (e *eventStream) put(f *frame, text []byte) error {
	err := e.write(text)
	f.held = f.held || err != nil
	return err
}

func (e *eventStream) write(text []byte) error {
	for len(text) > 0 {
		e.extendDeadline()
		n := min(len(text), writeChunk)
		if _, err := e.w.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// flush sends what was put to the client.
func (e *eventStream) flush() error {
	e.extendDeadline()
	err := e.control.Flush()
	if e.perIO {
		_ = e.control.SetWriteDeadline(time.Time{})
		e.extended = time.Time{}
	}
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// keepAliveNow writes the text if nothing was written for that long. It returns when to call it again.
func (e *eventStream) keepAliveNow(every time.Duration, text string) (time.Duration, error) {
	if wait := every - time.Since(e.wrote); wait > 0 {
		return wait, nil
	}
	e.begin()
	if err := e.write([]byte(text)); err != nil {
		return every, err
	}
	return every, e.flush()
}

// extendDeadline renews the write deadline, but not for every event: each time is a system call.
func (e *eventStream) extendDeadline() {
	now := time.Now()
	e.wrote = now
	if e.aborted.Load() || now.Sub(e.extended) < e.stall/8 {
		return
	}
	e.extended = now
	_ = e.control.SetWriteDeadline(now.Add(e.stall))
}

// abortWrite may be called during a write and after the end.
func (e *eventStream) abortWrite() {
	e.guard.Lock()
	defer e.guard.Unlock()
	if e.over {
		return
	}
	e.aborted.Store(true)
	_ = e.control.SetWriteDeadline(time.Now().Add(abortTimeout))
}

// end marks the response as no longer ours.
func (e *eventStream) end() {
	e.guard.Lock()
	defer e.guard.Unlock()
	e.over = true
}
