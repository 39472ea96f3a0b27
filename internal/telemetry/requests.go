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

// Requests counts the requests that door serves. With a collector each request becomes a span, which for a stream lasts
// until its end. Runs that the request starts belong to the span. door must set the request's Pattern, as
// [http.ServeMux] does.
func (o *Observer) Requests(door http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.metrics.inFlight.Inc()
		var s span
		if o.exporter != nil {
			at := messages.TraceOf(r.Context())
			_, parent := at.IDs()
			if parent == "" {
				at = newTrace(randomID(16))
			}
			s = span{at: at.Below(randomID(8)), parent: parent, began: time.Now(), kind: serverKind}
		}
		r = r.WithContext(messages.WithTrace(r.Context(), s.at))
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			o.metrics.inFlight.Dec()
			method, route := operation(r)
			o.metrics.requests.WithLabelValues(method, route, strconv.Itoa(answer.status)).Inc()
			if o.exporter != nil {
				s.name, s.ended = method+" "+route, time.Now()
				s.attributes = attributes{"http.request.method": r.Method, "url.path": r.URL.Path, "http.response.status_code": answer.status}
				if answer.status >= http.StatusInternalServerError { // a mistake of the client is no failure
					s.failed, s.attributes["error.type"] = true, strconv.Itoa(answer.status)
				}
				o.exporter.send(s)
			}
		}()
		door.ServeHTTP(answer, r)
	})
}

// operation returns the method and the path pattern of a request. A door without patterns, such as MCP, has its path.
// All other requests share the name "other", so that clients cannot add metrics with their own names.
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
