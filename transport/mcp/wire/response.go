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

	"github.com/seed889630bf/lastword/transport/gate"
)

// post is the response to a request over HTTP: JSON where the answer is all there is to say, else an event stream.
type post struct {
	events
	x         *Exchange
	takes     acceptable
	keepAlive time.Duration
	timer     *time.Timer
	complete  bool // the answer was written
}

type acceptable struct{ events, json bool }

// accepts reads the Accept header. Who says nothing takes all.
func accepts(r *http.Request) acceptable {
	values := r.Header["Accept"]
	a := acceptable{len(values) == 0, len(values) == 0}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			media, params, _ := strings.Cut(part, ";")
			if !unwanted(params) {
				a.add(strings.ToLower(strings.TrimSpace(media)))
			}
		}
	}
	return a
}

func (a *acceptable) add(media string) {
	switch media {
	case "*/*":
		a.events, a.json = true, true
	case "text/event-stream", "text/*":
		a.events = true
	case "application/json", "application/*":
		a.json = true
	}
}

// unwanted reports the parameter q=0.
func unwanted(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, q, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "q") {
			weight, err := strconv.ParseFloat(q, 64)
			return err == nil && weight == 0
		}
	}
	return false
}

// watch keeps the stream from being silent.
func (p *post) watch() {
	p.timer = time.AfterFunc(math.MaxInt64, p.beat) // which reads timer
	p.timer.Reset(p.keepAlive)
}

// beat does not wait for whoever is writing: the stream is not silent then.
func (p *post) beat() {
	next := p.keepAlive
	if p.x.mu.TryLock() {
		defer p.x.mu.Unlock()
		if p.x.answered {
			return
		}
		var err error
		if p.takes.events {
			next, err = p.events.beat(p.keepAlive)
		}
		if err != nil {
			p.x.left()
			return
		}
	}
	p.timer.Reset(next)
}

func (p *post) send(f *frame, more bool) error {
	if !p.takes.events {
		return nil
	}
	p.begin()
	if err := p.put(f, f.event()); err != nil || more {
		return err
	}
	return p.flush()
}

func (p *post) answer(f *frame, fail *Error) {
	p.complete = true
	p.timer.Stop()
	if !p.started && (p.takes.json || !p.takes.events || fail != nil) {
		p.answerJSON(f, fail)
		return
	}
	p.begin()
	_ = p.put(f, f.event())
}

func (p *post) answerJSON(f *frame, fail *Error) {
	text := f.json()
	status := http.StatusOK
	if fail != nil {
		p.session = ""
		status = p.statusOf(fail)
	}
	h := p.header()
	if status == http.StatusForbidden {
		h.Set("WWW-Authenticate", gate.Challenge(p.x.ctx, fail.Scope))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	p.w.WriteHeader(status)
	_ = p.put(f, text)
}

func (p *post) takesEvents() bool { return p.takes.events }

// hurry leaves a stream alone that nobody is writing to.
func (p *post) hurry() {
	if p.x.mu.TryLock() {
		p.x.mu.Unlock()
		return
	}
	p.events.hurry()
}

// statusOf returns the status for an error. Clients up to 2025-11-25 get 200 for all that say nothing of a scope.
func (p *post) statusOf(fail *Error) int {
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
	// portion is the most that is written before the client's time to take it begins anew.
	portion = 32 << 10
	// hurry is how long a blocked write still has when nobody wants it any more.
	hurry = time.Second
)

// events is a response that becomes an event stream with the first event. Its owner serializes the calls.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	session string // for the header; "" for none
	perIO   bool   // the deadline must not outlive a write: it would end an idle stream of HTTP/2
	started bool
	wrote   time.Time // when last written to
	armed   time.Time // when the deadline was last set
	hurried atomic.Bool

	guard sync.Mutex
	over  bool // the response is no longer ours
}

func (s *Server) newEvents(w http.ResponseWriter, r *http.Request) events {
	return events{w: w, control: http.NewResponseController(w), stall: s.config.Stall, perIO: r.ProtoMajor > 1,
		wrote: time.Now()}
}

// begin starts the stream; the headers leave with what is written next.
func (e *events) begin() {
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

func (e *events) header() http.Header {
	h := e.w.Header()
	if e.session != "" {
		h.Set("Mcp-Session-Id", e.session)
	}
	return h
}

// put writes a part of the frame's text.
func (e *events) put(f *frame, text []byte) error {
	err := e.write(text)
	f.held = f.held || err != nil
	return err
}

func (e *events) write(text []byte) error {
	for len(text) > 0 {
		e.arm()
		n := min(len(text), portion)
		if _, err := e.w.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// flush is needed for the client to see what was put before the response ends.
func (e *events) flush() error {
	e.arm()
	err := e.control.Flush()
	if e.perIO {
		_ = e.control.SetWriteDeadline(time.Time{})
		e.armed = time.Time{}
	}
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// beat writes a comment if the stream was silent for that long, and returns when to come again.
func (e *events) beat(every time.Duration) (time.Duration, error) {
	if wait := every - time.Since(e.wrote); wait > 0 {
		return wait, nil
	}
	e.begin()
	if err := e.write([]byte(": keep-alive\n\n")); err != nil {
		return every, err
	}
	return every, e.flush()
}

// arm gives the client its time again; the exact moment is not worth a system call for every event.
func (e *events) arm() {
	now := time.Now()
	e.wrote = now
	if e.hurried.Load() || now.Sub(e.armed) < e.stall/8 {
		return
	}
	e.armed = now
	_ = e.control.SetWriteDeadline(now.Add(e.stall))
}

// hurry may be called while something is written, and after the end.
func (e *events) hurry() {
	e.guard.Lock()
	defer e.guard.Unlock()
	if e.over {
		return
	}
	e.hurried.Store(true)
	_ = e.control.SetWriteDeadline(time.Now().Add(hurry))
}

// end gives the response back to its server.
func (e *events) end() {
	e.guard.Lock()
	defer e.guard.Unlock()
	e.over = true
}
