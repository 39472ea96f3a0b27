package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
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
	answered  bool
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

// watch keeps the stream from being silent, and a token that was revoked from its answer.
func (p *post) watch() {
	p.timer = time.AfterFunc(math.MaxInt64, p.beat) // which reads timer
	p.timer.Reset(p.keepAlive)
}

// beat ends the request of a token that was revoked. It does not wait for who is writing: then the stream is not silent.
func (p *post) beat() {
	if !gate.Valid(p.x.ctx) {
		p.x.drop()
		return
	}
	next := p.keepAlive
	if p.x.mu.TryLock() {
		defer p.x.mu.Unlock()
		if p.x.phase == ended {
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

func (p *post) answer(f *frame, code int, more bool) bool {
	p.answered = true
	more = more && p.takes.events
	if !more {
		p.timer.Stop()
	}
	if !p.started && !more && (p.takes.json || !p.takes.events || code != 0) {
		p.answerJSON(f, code)
		return false
	}
	p.begin()
	if p.put(f, f.event()) != nil {
		return false
	}
	return more && p.flush() == nil
}

func (p *post) answerJSON(f *frame, code int) {
	text := f.json()
	status := http.StatusOK
	if p.x.modern {
		status = statusOf(code)
	}
	if code != 0 {
		p.session = ""
	}
	h := p.header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	p.w.WriteHeader(status)
	_ = p.put(f, text)
}

// hurry leaves a stream alone that nobody is writing to.
func (p *post) hurry() {
	if p.x.mu.TryLock() {
		p.x.mu.Unlock()
		return
	}
	p.events.hurry()
}

// statusOf is what clients from 2026-07-28 on get for a JSON-RPC error.
func statusOf(code int) int {
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
