package http

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Server is the API. It is safe for concurrent use.
type Server struct {
	*door.Door
	mux *http.ServeMux
	api huma.API
}

// New returns the API of the door.
func New(d *door.Door) *Server {
	s := &Server{Door: d, mux: http.NewServeMux()}
	s.api = onlyJSON{humago.New(s.mux, s.document())}
	s.routes()
	return s
}

// onlyJSON answers in the one form that there is: the library's own negotiation panics at some Accept fields, such as
// ";a,".
type onlyJSON struct{ huma.API }

// Negotiate returns the media type of JSON.
func (onlyJSON) Negotiate(string) (string, error) { return string(formJSON), nil }

// ServeHTTP answers every path below /v1, and /openapi.json.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = s.Timed(w)
	w.Header().Add("Vary", "Accept-Encoding")
	if compressible(r) {
		c := &compressor{ResponseWriter: w}
		defer c.close()
		w = c
	}
	pattern, ok := door.Match(s.mux, w, r, auth.Refuse)
	if !ok {
		return
	}
	r.Pattern = pattern // who counts requests reads it
	// The API's framework would answer 500 for a body that cannot be read.
	body, err := door.Read(r)
	if err == nil {
		err = acceptable(pattern, r)
	}
	if err != nil {
		auth.Refuse(w, err)
		return
	}
	var stream func()
	r = r.WithContext(context.WithValue(r.Context(), streamKey{}, &stream)) // the server's own request must keep its body
	if r.Body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if s.mux.ServeHTTP(w, r); stream != nil {
		stream()
	}
}

// streamKey is where an operation leaves the stream that answers, which holds no stack of the API's framework then.
type streamKey struct{}

// acceptable refuses a request that accepts nothing of what its path answers. A file is of any type.
func acceptable(pattern string, r *http.Request) error {
	if files[pattern] {
		return nil
	}
	_, err := formOf(r.Header.Get("Accept"))
	return err
}

// files are the patterns that answer with files.
var files = map[string]bool{"GET " + filePath: true, "HEAD " + filePath: true, "GET " + socketPath: true}

const (
	filePath   = "/v1/runs/{id}/artifacts/{name}"
	socketPath = "/v1/ws"
)
