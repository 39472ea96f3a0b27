package http

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Server is the HTTP API. It is safe for concurrent use.
type Server struct {
	*door.Door
	mux *http.ServeMux
	api huma.API
}

// New returns the API for the runs of the door.
func New(d *door.Door) *Server {
	s := &Server{Door: d, mux: http.NewServeMux()}
	s.api = onlyJSON{humago.New(s.mux, s.document())}
	s.runRoutes()
	s.readerRoutes()
	s.serverRoutes()
	s.mux.HandleFunc("GET /openapi.json", s.serveDocument)
	for _, schema := range s.api.OpenAPI().Components.Schemas.Map() {
		for _, property := range schema.Properties {
			property.Nullable = false // a list without elements is []
		}
	}
	return s
}

// onlyJSON fixes the content type of JSON responses. The library's own negotiation panics at some Accept fields, such
// as ";a,".
type onlyJSON struct{ huma.API }

// Negotiate returns the media type of JSON, whatever the client accepts.
func (onlyJSON) Negotiate(string) (string, error) { return string(formJSON), nil }

// ServeHTTP answers every path below /v1, and /openapi.json.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	door.Compressed(http.HandlerFunc(s.serve)).ServeHTTP(s.Timed(w), r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	pattern, ok := door.Match(s.mux, w, r, auth.Refuse)
	if !ok {
		return
	}
	r.Pattern = pattern // metrics read the pattern
	// The huma framework would answer 500 to a body that cannot be read.
	body, err := door.ReadText(r)
	if err == nil {
		err = acceptable(pattern, r)
	}
	if err != nil {
		auth.Refuse(quiet{w, s.Redact}, err)
		return
	}
	q := &request{body: body}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q)) // the server needs its own request with the original body
	if r.Body != nil {
		r.Body = io.NopCloser(bytes.NewReader(jsonwalk.Short(body)))
	}
	if s.mux.ServeHTTP(w, r); q.stream != nil {
		q.body = nil // a long stream holds no body
		q.stream()
	}
}

// request is what ServeHTTP and an operation tell each other around the huma framework.
type request struct {
	body []byte
	// stream writes a stream. ServeHTTP calls it after the framework has returned, so that long streams do not hold the
	// framework's stack.
	stream func()
}

type requestKey struct{}

func requestOf(ctx context.Context) *request { return ctx.Value(requestKey{}).(*request) }

// acceptable returns an error if the request accepts none of the types that its path can answer with. Files may be of
// any type.
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
	toolPath   = "/v1/tools/{name}/{tool}"
)
