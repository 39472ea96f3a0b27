package door

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Stream writes an HTTP response of unknown length, one frame at a time. One goroutine uses it at a time: [Heartbeats]
// hold its lock.
type Stream struct {
	// UntilDrain says that the stream ends when the server stops, because its client can reconnect.
	UntilDrain bool

	door        *Door
	w           http.ResponseWriter
	contentType string
	late        bool // Flush does not begin the response

	mu      sync.Mutex
	buffer  []byte // from the pool buffers; nil between two frames, so that an idle stream holds none
	begun   bool   // the header was written
	flushed bool   // the header was flushed
	err     error  // the first write error; nothing is written after it
}

// buffers is a pool for frames and messages.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// keep returns a buffer to the pool, unless it has grown large.
func keep(buffer []byte) {
	if cap(buffer) <= 64<<10 {
		buffers.Put(new(buffer[:0]))
	}
}

// Stream returns a response with status 200 that begins with the first frame or Flush. Until then the caller can still
// answer w in another way.
func (d *Door) Stream(w http.ResponseWriter, contentType string) *Stream {
	return &Stream{door: d, w: d.Timed(w), contentType: contentType}
}

// Begun reports whether the response header was written.
func (s *Stream) Begun() bool { return s.begun }

// begin sends the header. X-Accel-Buffering keeps nginx from collecting events.
func (s *Stream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	h := s.w.Header()
	h.Set("Content-Type", s.contentType)
	h.Set("Cache-Control", "no-cache, no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
}

// Append lets f append to what the next Flush sends.
func (s *Stream) Append(f func(b []byte) []byte) {
	s.begin()
	if s.buffer == nil {
		s.buffer = *buffers.Get().(*[]byte)
	}
	s.buffer = f(s.buffer)
}

// Write adds to what the next Flush sends. It never fails; Flush reports the error.
func (s *Stream) Write(data []byte) (int, error) {
	s.Append(func(b []byte) []byte { return append(b, data...) })
	return len(data), nil
}

// WriteString is Write for a string.
func (s *Stream) WriteString(data string) (int, error) {
	s.Append(func(b []byte) []byte { return append(b, data...) })
	return len(data), nil
}

// Event writes a server-sent event. The id and the name may be "".
func (s *Stream) Event(id, name string, data any) {
	s.Append(func(b []byte) []byte {
		if id != "" {
			b = append(append(append(b, "id: "...), id...), '\n')
		}
		return AppendEvent(b, name, JSON(data))
	})
}

// AppendEvent appends the lines of a server-sent event that follow its id. The name may be "". The data must have no
// line breaks, as compact JSON has none.
func AppendEvent(b []byte, name string, data []byte) []byte {
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// Flush sends what was written. If the client does not read it in time, its connection is cut.
func (s *Stream) Flush() error {
	if s.err != nil || len(s.buffer) == 0 && (s.flushed || s.late && !s.begun) {
		return s.err
	}
	s.flushed = true
	if s.End(); s.err == nil {
		s.err = http.NewResponseController(s.w).Flush()
	}
	return s.err
}

// End passes on what was written without flushing: it is sent when the handler returns.
func (s *Stream) End() {
	s.begin()
	if s.err == nil && len(s.buffer) > 0 {
		if _, s.err = s.w.Write(s.door.Redact(s.buffer)); s.err == nil {
			keep(s.buffer) // after a failed write, HTTP/2 may still read the buffer
		}
		s.buffer = nil
	}
}

// Break cuts the connection, so that no client takes the end of the response for the end of the run. It panics, so it
// does not return.
func (s *Stream) Break() { panic(http.ErrAbortHandler) }

func (s *Stream) lock() *sync.Mutex { return &s.mu }

// Unbuffered is an Out for readers that send each event at once, without a Flush.
type Unbuffered struct{ mu sync.Mutex }

// Flush does nothing.
func (*Unbuffered) Flush() error { return nil }

func (u *Unbuffered) lock() *sync.Mutex { return &u.mu }

// Timed returns a writer that cuts the connection of a client that does not read in time. Such a client would otherwise
// block its handler for ever.
func (d *Door) Timed(w http.ResponseWriter) http.ResponseWriter {
	return &timed{ResponseWriter: w, timeout: d.WriteTimeout}
}

// timed writes in parts of timedBytes, and renews the deadline for each, so that slow clients are not cut. To save calls of the
// system a client has a tenth less than the timeout.
type timed struct {
	http.ResponseWriter
	timeout  time.Duration
	deadline time.Time
}

// timedBytes is the most that a client must read before its deadline.
const timedBytes = 64 << 10

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *timed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes in parts.
func (w *timed) Write(data []byte) (int, error) {
	written := 0
	for {
		if now := time.Now(); w.deadline.Sub(now) <= w.timeout-w.timeout/10 {
			w.deadline = now.Add(w.timeout)
			// SetWriteDeadline fails on connections without deadlines, which end with their request.
			_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline)
		}
		n, err := w.ResponseWriter.Write(data[written:min(len(data), written+timedBytes)])
		written += n
		if err != nil || written == len(data) {
			return written, err
		}
	}
}

// JSON returns v as JSON. If v has no JSON form, it returns a JSON-RPC error object instead.
func JSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32603, // internal error
			"message": err.Error(), "data": map[string]any{"code": auth.CodeInternal, "retryable": false}}}) // strings
	}
	return data
}
