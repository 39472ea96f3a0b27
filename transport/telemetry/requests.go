package telemetry

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Requests makes a span of each request that door answers, a stream until its end, and has runs that it starts belong to
// it. Without a collector it is door itself.
func (o *Observer) Requests(door http.Handler) http.Handler {
	if o.exporter == nil {
		return door
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := span{ID: randomID(8), Name: r.Method + " " + route(r.URL.Path), began: time.Now(), kind: serverKind}
		trace, parent, ok := messages.ParseTraceparent(r.Header.Get("Traceparent"))
		if !ok {
			trace = randomID(16)
		}
		s.Trace, s.Parent = trace, parent
		r.Header.Set("Traceparent", "00-"+s.Trace+"-"+s.ID+"-01")
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			s.ended = time.Now()
			s.attributes = []attribute{{"http.request.method", r.Method}, {"url.path", r.URL.Path},
				{"http.response.status_code", strconv.Itoa(answer.status)}}
			if answer.status >= http.StatusInternalServerError {
				s.failure = http.StatusText(answer.status)
			}
			o.exporter.send(s)
		}()
		door.ServeHTTP(answer, r)
	})
}

// route is the path without the names in it, so that spans of one kind have one name.
func route(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "r_"):
			parts[i] = "{id}"
		case i > 0 && (parts[i-1] == "artifacts" || parts[i-1] == "input" || parts[i-1] == "jobs"):
			parts[i] = "{name}"
		}
	}
	return strings.Join(parts, "/")
}

func randomID(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
