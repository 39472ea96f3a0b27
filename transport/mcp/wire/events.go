package wire

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

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
