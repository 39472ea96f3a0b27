package http

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// retry is how long a browser waits before it comes back, in milliseconds.
const retry = "1000"

// errDraining ends the streams of a server that stops.
var errDraining = errors.New("the server is stopping")

// stream writes a run's events as they come, until the terminal. What it began to write it ends with the terminal, with a
// problem or draining event, or by breaking the connection.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, id messages.RunID, form form, follow messages.Follow) {
	s.readers.Add(1)
	defer s.readers.Add(-1)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer s.onDrain(ctx, func() { cancel(errDraining) })()
	out := s.newWriter(w, id, form, cancel)
	defer out.stop()
	out.at = follow.At(id)
	if follow.Snapshot != nil {
		follow.Snapshot = out.snapshot
	}
	out.open()
	opened := time.Now()
	for batch, err := range s.config.Runs.Follow(ctx, id, follow) {
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			out.fail(err)
			return
		}
		if !out.events(batch) {
			return
		}
		s.late(batch, opened)
	}
}

// onDrain calls f when the server of the request stops, unless the returned function is called before. One goroutine
// waits for all streams of a server.
func (s *Server) onDrain(ctx context.Context, f func()) (stop func() bool) {
	draining := auth.Draining(ctx)
	if draining == nil {
		return func() bool { return true }
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining == nil || s.drained != draining {
		stopping, cancel := context.WithCancel(context.Background())
		s.draining, s.drained = stopping, draining
		go func() {
			defer cancel()
			<-draining
		}()
	}
	return context.AfterFunc(s.draining, f)
}

// writer writes the frames of one stream. Heartbeats come from a timer, so it locks.
type writer struct {
	server *Server
	w      http.ResponseWriter
	flush  *http.ResponseController
	form   form
	id     messages.RunID
	at     messages.Cursors
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	buffer []byte // of buffers; nil between two frames, so that an idle stream holds none
	beat   *time.Timer
	broken bool
}

func (s *Server) newWriter(w http.ResponseWriter, id messages.RunID, form form, cancel context.CancelCauseFunc) *writer {
	return &writer{server: s, w: w, flush: http.NewResponseController(w), form: form, id: id, cancel: cancel}
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// room gives the buffer room. Under mu.
func (o *writer) room() {
	if o.buffer == nil {
		o.buffer = *buffers.Get().(*[]byte)
	}
}

// open sends the header, so that the client knows that it is connected.
func (o *writer) open() {
	h := o.w.Header()
	h.Set("Content-Type", o.form.mediaType())
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w.WriteHeader(http.StatusOK)
	if o.form == formSSE {
		o.room()
		o.buffer = append(o.buffer, "retry: "+retry+"\n\n"...)
		o.send()
	} else {
		_ = o.flush.Flush() // an error shows at the next event
	}
	o.beat = time.AfterFunc(o.server.config.Heartbeat, o.heartbeat)
}

func (o *writer) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = true // for a heartbeat that waits for the lock
	if o.beat != nil {
		o.beat.Stop()
	}
}

// heartbeat keeps proxies and clients from taking a silent run for a dead connection.
func (o *writer) heartbeat() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.room()
	if o.form == formSSE {
		o.buffer = append(o.buffer, ":\n\n"...)
	} else {
		o.buffer = append(o.buffer, '\n')
	}
	o.send()
	if !o.broken {
		o.beat.Reset(o.server.config.Heartbeat)
	}
}

// events writes a batch, and reports whether the client still reads.
func (o *writer) events(batch []messages.Event) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.room()
	for _, e := range batch {
		e, some := o.at.Take(e)
		if !some {
			e.Body = nil // the client has it; the cursor moves
		}
		if err := o.event(e); err != nil {
			o.cancel(err)
			o.broken = true
		}
	}
	o.beat.Reset(o.server.config.Heartbeat)
	o.send()
	return !o.broken
}

func (o *writer) event(e messages.Event) error {
	if e.Body == nil { // a cursor alone: what the filter passed over
		if o.form == formSSE {
			o.buffer = append(o.appendID(o.buffer), '\n')
		}
		return nil
	}
	line, err := e.JSON()
	if err != nil {
		return err
	}
	if o.form == formNDJSON {
		if !o.at.Plain() { // the line's number is not enough to come back with
			line = append(o.at.Append(append(slices.Clone(line[:len(line)-1]), `,"cursor":"`...), o.id), `"}`...)
		}
		o.buffer = append(append(o.buffer, line...), '\n')
		return nil
	}
	o.frame(string(e.Kind()), line, true)
	return nil
}

// frame appends an SSE event. Its data is JSON, which has no line ends.
func (o *writer) frame(kind string, data []byte, numbered bool) {
	b := o.buffer
	if numbered {
		b = o.appendID(b)
	}
	b = append(append(append(b, "event: "...), kind...), "\ndata: "...)
	o.buffer = append(append(b, data...), "\n\n"...)
}

func (o *writer) appendID(b []byte) []byte {
	return append(o.at.Append(append(b, "id: "...), o.id), '\n')
}

// snapshot writes the State that the events go on from.
func (o *writer) snapshot(state messages.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.room()
	o.at[o.id] = messages.CursorAt(state)
	data, err := json.Marshal(map[string]any{"snapshot": state})
	if err != nil {
		o.cancel(err)
		return
	}
	if o.form == formNDJSON {
		o.buffer = append(append(o.buffer, data...), '\n')
	} else {
		o.frame("snapshot", data, true)
	}
	o.send()
}

// fail says why there are no more events, where the client can still read it.
func (o *writer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.room()
	name := "problem"
	if errors.Is(err, errDraining) {
		name, err = "draining", messages.Errorf(messages.Code(messages.CauseShutdown),
			"the server is stopping; come back with the cursor %s", o.at.Text(o.id))
	}
	data, marshalErr := json.Marshal(auth.ProblemOf(err))
	if marshalErr != nil {
		return
	}
	if o.form == formSSE {
		o.frame(name, data, false)
	} else {
		o.buffer = append(append(append(append(o.buffer, `{"`+name+`":`...), data...), '}'), '\n')
	}
	o.send()
}

// send writes and flushes the buffer. It must hold the lock.
func (o *writer) send() {
	if o.broken || len(o.buffer) == 0 {
		return
	}
	_, err := o.w.Write(o.server.config.Redact(o.buffer))
	if err == nil {
		err = o.flush.Flush()
	}
	if cap(o.buffer) <= 64<<10 {
		buffers.Put(new(o.buffer[:0]))
	}
	o.buffer = nil
	if err != nil {
		o.broken = true
		o.cancel(err)
	}
}
