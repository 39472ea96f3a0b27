package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Requests counts the requests that door serves. With a collector each request becomes a span, which for a stream lasts
// until its end. Runs that the request starts belong to the span. door must set the request's Pattern, as
// [http.ServeMux] does.
func (o *Observer) Requests(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.metrics.inFlight.Inc()
		var s span
		if o.exporter != nil {
			s = begin(r.Context())
		}
		r = r.WithContext(messages.WithTrace(r.Context(), s.at))
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			o.metrics.inFlight.Dec()
			method, route := operation(r)
			o.metrics.requests.WithLabelValues(method, route, strconv.Itoa(answer.status)).Inc()
			if o.exporter != nil {
				s.name = method + " " + route
				s.end(r, answer.status)
				o.exporter.send(s)
			}
		}()
		door.ServeHTTP(answer, r)
	})
}

// operation returns the method and the path pattern of a request. A door without patterns, such as MCP, has its path.
// All other requests share the name "other", so that clients cannot add metrics with names of their own.
func operation(r *http.Request) (method, route string) {
	method, route, found := strings.Cut(r.Pattern, " ")
	switch {
	case found:
		return method, route
	case r.Method == http.MethodPost && r.Pattern != "" && !strings.HasSuffix(r.Pattern, "/"):
		return r.Method, r.Pattern
	}
	return "other", "other"
}

// begin returns a span for a request with the context.
func begin(ctx context.Context) span {
	at := messages.TraceOf(ctx)
	_, parent := at.IDs()
	if parent == "" {
		at = newTrace(randomID(16))
	}
	return span{at: at.Below(randomID(8)), parent: parent, began: time.Now(), kind: serverKind}
}

// end records the answer. Only a failure of the server makes the span failed, not a mistake of the client.
func (s *span) end(r *http.Request, status int) {
	s.ended = time.Now()
	s.attributes = attributes{"http.request.method": r.Method, "url.path": r.URL.Path, "http.response.status_code": status}
	if status >= http.StatusInternalServerError {
		s.failed, s.attributes["error.type"] = true, strconv.Itoa(status)
	}
}

func randomID(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
