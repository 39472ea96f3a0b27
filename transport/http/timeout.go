package http

import (
	"net/http"
	"time"
)

// timedWriter writes to a client. A client that does not read in time loses its connection: it would hold its handler
// for ever.
type timedWriter struct {
	http.ResponseWriter
	timeout  time.Duration
	deadline time.Time
}

// timedBytes is the most that a client must read before the timeout.
const timedBytes = 64 << 10

// Unwrap gives http.ResponseController the connection.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes in parts, so that a slow client has time for each.
func (w *timedWriter) Write(data []byte) (int, error) {
	written := 0
	for {
		if now := time.Now(); w.deadline.Sub(now) < w.timeout/2 {
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
