package telemetry

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Requests counts the requests that door answers. With a collector each is a span, a stream until its end, and the runs
// that it starts belong to it.
func (o *Observer) Requests(door http.Handler) http.Handler {
	if o.exporter != nil {
		door = o.traced(door)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.metrics.inFlight.Inc()
		defer o.metrics.inFlight.Dec()
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		door.ServeHTTP(answer, r)
		o.metrics.requests.WithLabelValues(r.Method, route(r.URL.Path), strconv.Itoa(answer.status)).Inc()
	})
}

func (o *Observer) traced(door http.Handler) http.Handler {
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

// route is the path without the names in it, so that requests of one kind have one name. Paths that no operation has
// share one.
func route(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || len(parts) > 6 || !slices.Contains([]string{"runs", "jobs", "ws", "session"}, parts[2]) {
		return "other"
	}
	for i, part := range parts {
		switch {
		case i == 3 && parts[2] == "runs":
			parts[i] = "{id}"
		case i == 4 && !slices.Contains([]string{"events", "cancel", "input", "attach", "artifacts"}, part):
			return "other"
		case i > 2 && (parts[i-1] == "artifacts" || parts[i-1] == "input" || parts[i-1] == "jobs"):
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
