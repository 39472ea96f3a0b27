package door

import (
	"net/http"
	"sync"
	"time"
)

// Stream writes an HTTP answer that has no length: frames as they come, and heartbeats between them.
type Stream struct {
	door    *Door
	w       http.ResponseWriter
	control *http.ResponseController

	mu     sync.Mutex
	buffer []byte
	err    error // why the client gets nothing more
}

// Stream begins the answer with status 200 and sends its header.
func (d *Door) Stream(w http.ResponseWriter, contentType string) *Stream {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache, no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &Stream{door: d, w: w, control: http.NewResponseController(w)}
	w.WriteHeader(http.StatusOK)
	s.err = s.control.Flush()
	return s
}

// Write adds to what the next Flush sends. It never fails: Flush does.
func (s *Stream) Write(data []byte) (int, error) {
	s.buffer = append(s.buffer, data...)
	return len(data), nil
}

// WriteString is Write.
func (s *Stream) WriteString(data string) (int, error) {
	s.buffer = append(s.buffer, data...)
	return len(data), nil
}

// Event writes a server-sent event. The id and the name may be "".
func (s *Stream) Event(id, name string, data any) {
	for _, field := range [][2]string{{"id: ", id}, {"event: ", name}} {
		if field[1] != "" {
			s.buffer = append(append(append(s.buffer, field[0]...), field[1]...), '\n')
		}
	}
	s.buffer = append(append(append(s.buffer, "data: "...), JSON(data)...), "\n\n"...)
}

// Flush sends what was written. A client that does not read it in time loses its connection.
func (s *Stream) Flush() error {
	if s.err != nil || len(s.buffer) == 0 {
		return s.err
	}
	// A connection without deadlines ends with its request.
	_ = s.control.SetWriteDeadline(time.Now().Add(s.door.WriteTimeout))
	if _, s.err = s.w.Write(s.door.Redact(s.buffer)); s.err == nil {
		s.err = s.control.Flush()
	}
	s.buffer = s.buffer[:0]
	return s.err
}

// Break cuts the connection, so that no client takes the end of the answer for the end of the run. It does not
// return.
func (s *Stream) Break() { panic(http.ErrAbortHandler) }

func (s *Stream) house() (*Door, *sync.Mutex) { return s.door, &s.mu }
