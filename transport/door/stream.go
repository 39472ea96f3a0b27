package door

import (
	"net/http"
	"sync"
	"time"
)

// Stream writes an HTTP answer that has no length: frames as they come. [Heartbeats] keep it open.
type Stream struct {
	// UntilDrain says that what is followed ends when the server stops: its client can come back.
	UntilDrain bool

	door        *Door
	w           http.ResponseWriter
	contentType string

	mu      sync.Mutex
	buffer  []byte // of buffers; nil between two frames, so that an idle stream holds none
	begun   bool
	flushed bool
	err     error // why the client gets nothing more
}

// buffers are for frames and messages.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// keep gives a buffer back, unless it has grown large.
func keep(buffer []byte) {
	if cap(buffer) <= 64<<10 {
		buffers.Put(new(buffer[:0]))
	}
}

// Stream returns an answer of status 200, which begins with the first frame or Flush. Until then w can be answered in
// another way.
func (d *Door) Stream(w http.ResponseWriter, contentType string) *Stream {
	return &Stream{door: d, w: d.Timed(w), contentType: contentType}
}

// Begun reports whether the answer has begun.
func (s *Stream) Begun() bool { return s.begun }

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

// Append has f append to what the next Flush sends.
func (s *Stream) Append(f func(b []byte) []byte) {
	s.begin()
	if s.buffer == nil {
		s.buffer = *buffers.Get().(*[]byte)
	}
	s.buffer = f(s.buffer)
}

// Write adds to what the next Flush sends. It never fails: Flush does.
func (s *Stream) Write(data []byte) (int, error) {
	s.Append(func(b []byte) []byte { return append(b, data...) })
	return len(data), nil
}

// WriteString is Write.
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

// AppendEvent appends the lines of a server-sent event that come after its id. The name may be ""; the data is JSON,
// which has no line ends.
func AppendEvent(b []byte, name string, data []byte) []byte {
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// Flush sends what was written. A client that does not read it in time loses its connection.
func (s *Stream) Flush() error {
	if s.err != nil || len(s.buffer) == 0 && s.flushed {
		return s.err
	}
	s.flushed = true
	if s.End(); s.err == nil {
		s.err = http.NewResponseController(s.w).Flush()
	}
	return s.err
}

// End sends what was written when the handler returns, and no sooner.
func (s *Stream) End() {
	s.begin()
	if s.err == nil && len(s.buffer) > 0 {
		if _, s.err = s.w.Write(s.door.Redact(s.buffer)); s.err == nil {
			keep(s.buffer) // HTTP/2 may still read the buffer of a write that failed
		}
		s.buffer = nil
	}
}

// Break cuts the connection, so that no client takes the end of the answer for the end of the run. It does not
// return.
func (s *Stream) Break() { panic(http.ErrAbortHandler) }

func (s *Stream) lock() *sync.Mutex { return &s.mu }

// Unbuffered is where a run is written at once, without a Flush.
type Unbuffered struct{ mu sync.Mutex }

// Flush does nothing.
func (*Unbuffered) Flush() error { return nil }

func (u *Unbuffered) lock() *sync.Mutex { return &u.mu }

// Timed returns a writer to a client that loses its connection if it does not read in time: it would hold its handler
// for ever.
func (d *Door) Timed(w http.ResponseWriter) http.ResponseWriter {
	return &timed{ResponseWriter: w, timeout: d.WriteTimeout}
}

// timed writes in parts, so that a slow client has the time for each.
type timed struct {
	http.ResponseWriter
	timeout  time.Duration
	deadline time.Time
}

// timedBytes is the most that a client must read before the timeout.
const timedBytes = 64 << 10

// Unwrap gives http.ResponseController the connection.
func (w *timed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes in parts.
func (w *timed) Write(data []byte) (int, error) {
	written := 0
	for {
		if now := time.Now(); w.deadline.Sub(now) <= w.timeout/2 {
			w.deadline = now.Add(w.timeout)
			// A connection without deadlines ends with its request.
			_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline)
		}
		n, err := w.ResponseWriter.Write(data[written:min(len(data), written+timedBytes)])
		written += n
		if err != nil || written == len(data) {
			return written, err
		}
	}
}
