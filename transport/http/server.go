package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Runs is the runtime as this API needs it. An actors.System is one.
type Runs interface {
	// Submit accepts a run; when it returns, run.queued is in the journal. ctx bounds an attached run.
	Submit(ctx context.Context, q messages.Request) (messages.RunID, error)
	// Attach makes an attached run go on until ctx is done.
	Attach(ctx context.Context, id messages.RunID) error
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Follow(ctx context.Context, id messages.RunID, o messages.Follow) iter.Seq2[[]messages.Event, error]
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	// Watch calls fn for runs that have changed, and with the empty id where any may have, until ctx is done.
	Watch(ctx context.Context, fn func(messages.RunID)) error
	Cancel(ctx context.Context, id messages.RunID, by, reason string) error
	Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage, principal string) error
	// Forget removes the log of an ended run.
	Forget(ctx context.Context, id messages.RunID) error
}

// Job is a kind of run that callers may start.
type Job struct {
	Name string `json:"name" doc:"The name that a request gives" example:"generate"`
	// Description is for people.
	Description string `json:"description" doc:"What the job does"`
	// Schema is the JSON Schema (2020-12) of the input.
	Schema json.RawMessage `json:"schema" doc:"The JSON Schema of the input"`
	// Limits bound runs whose start says nothing of them.
	Limits messages.Limits `json:"-"`
	// Prepare, which may be nil, changes the input of a caller before it is submitted: a folder of the caller's own, for
	// example. Errors: invalid_input.
	Prepare func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) `json:"-"`
}

// Open opens an artifact of a run for reading. Errors: not_found where the file is gone, or is another than the run
// wrote.
type Open func(ctx context.Context, run messages.State, artifact messages.Artifact) (io.ReadSeekCloser, error)

// Config is what a Server is made of.
type Config struct {
	Runs Runs
	// Jobs are what callers may start.
	Jobs []Job
	// Open reads artifacts; nil where runs write none.
	Open Open
	// Version is that of the program.
	Version string
	// Heartbeat is the longest that a stream is silent: 15 s.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may take to read what was written to it: 30 s. Then its connection is cut.
	WriteTimeout time.Duration
	// Lag is told how late an event was written to a reader that was there when it happened; nil is told nothing.
	Lag func(time.Duration)
	// Secure marks session cookies for https alone.
	Secure bool
	// Redact returns what clients may read without the process's secrets; nil changes nothing. It may change its argument.
	Redact func([]byte) []byte
}

// Server is the API. It is safe for concurrent use.
type Server struct {
	config Config
	mux    *http.ServeMux
	api    huma.API
	jobs   map[string]Job

	readers atomic.Int64 // streams and subscriptions

	mu       sync.Mutex
	draining context.Context // ends when drained is closed
	drained  <-chan struct{}
}

// late tells how late the newest of the events is for a reader that came at opened.
func (s *Server) late(batch []messages.Event, opened time.Time) {
	if s.config.Lag == nil || len(batch) == 0 {
		return
	}
	if last := batch[len(batch)-1]; last.Time.After(opened) {
		s.config.Lag(time.Since(last.Time))
	}
}

// Readers returns how many streams and subscriptions are open.
func (s *Server) Readers() int64 { return s.readers.Load() }

// New returns the API of the runtime.
func New(c Config) *Server {
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	if c.Redact == nil {
		c.Redact = func(b []byte) []byte { return b }
	}
	s := &Server{config: c, mux: http.NewServeMux(), jobs: map[string]Job{}}
	for _, job := range c.Jobs {
		s.jobs[job.Name] = job
	}
	s.api = onlyJSON{humago.New(s.mux, s.document())}
	s.routes()
	return s
}

// onlyJSON answers in the one form that there is, whatever Accept asks for: the library's own negotiation panics at some
// fields, such as ";a,".
type onlyJSON struct{ huma.API }

// Negotiate returns the media type of JSON.
func (onlyJSON) Negotiate(string) (string, error) { return formJSON.mediaType(), nil }

// ServeHTTP answers every path below /v1, and /openapi.json.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = &timedWriter{ResponseWriter: w, timeout: s.config.WriteTimeout}
	w.Header().Add("Vary", "Accept-Encoding")
	if compressible(r) {
		c := &compressor{ResponseWriter: w}
		defer c.close()
		w = c
	}
	handler, pattern := s.mux.Handler(r)
	if path.Clean(r.URL.Path) != r.URL.Path { // the mux would send it elsewhere
		pattern = ""
	}
	if r.Pattern = pattern; pattern != "" { // who counts requests reads it
		if r, ok := readBody(w, r); ok {
			s.mux.ServeHTTP(w, r)
		}
		return
	}
	said := httptest.NewRecorder() // the mux's own refusal, in plain text
	handler.ServeHTTP(said, r)
	if said.Code != http.StatusMethodNotAllowed {
		auth.Refuse(w, messages.Errorf(messages.CodeNotFound, "there is nothing at %.200q; /openapi.json lists the paths", r.URL.Path))
		return
	}
	w.Header().Set("Allow", said.Header().Get("Allow"))
	auth.Refuse(w, auth.NewProblem(auth.CodeNotAllowed, r.URL.Path+" takes "+said.Header().Get("Allow")))
}

// readBody returns the request with its whole body in memory, or refuses it: the API's framework would answer 500.
func readBody(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, true
	}
	body, err := io.ReadAll(r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); err != nil && !large {
		err = messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
	}
	if err != nil {
		auth.Refuse(w, err)
		return nil, false
	}
	r = r.WithContext(r.Context()) // the server's own request must keep its body
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, true
}

// run returns the State of a run of whoever calls. Errors: not_found, for the runs of others too.
func (s *Server) run(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := s.config.Runs.State(ctx, id)
	if err == nil {
		err = auth.Own(ctx, state)
	}
	if err != nil {
		return messages.State{}, err
	}
	return state, nil
}
