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

// Requests counts the requests that door answers. With a collector each is a span, a stream until its end, and the runs
// that it starts belong to it. Door sets the request's Pattern, as [http.ServeMux] does.
func (o *Observer) Requests(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.metrics.inFlight.Inc()
		var s span
		if o.exporter != nil {
			s = begin(r)
		}
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			o.metrics.inFlight.Dec()
			method, route := operation(r)
			o.metrics.requests.WithLabelValues(method, route, strconv.Itoa(answer.status)).Inc()
			if o.exporter != nil {
				s.Name = method + " " + route
				s.end(r, answer.status)
				o.exporter.send(s)
			}
		}()
		door.ServeHTTP(answer, r)
	})
}

// operation is the method and the path that the door has for the request. Requests that it has none for share one, so
// that no client fills the metrics with names of its own.
func operation(r *http.Request) (method, route string) {
	method, route, found := strings.Cut(r.Pattern, " ")
	if !found {
		return "other", "other"
	}
	return method, route
}

// begin returns the request's span, and gives it to the request.
func begin(r *http.Request) span {
	trace, parent, ok := messages.ParseTraceparent(r.Header.Get(messages.TraceLabel))
	if !ok {
		trace = randomID(16)
	}
	s := span{Trace: trace, Parent: parent, ID: randomID(8), began: time.Now(), kind: serverKind}
	r.Header.Set(messages.TraceLabel, "00-"+s.Trace+"-"+s.ID+"-01")
	return s
}

func (s *span) end(r *http.Request, status int) {
	s.ended = time.Now()
	s.attributes = []attribute{{"http.request.method", r.Method}, {"url.path", r.URL.Path},
		{"http.response.status_code", strconv.Itoa(status)}}
	if status >= http.StatusInternalServerError {
		s.failure = http.StatusText(status)
	}
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
