package nano

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/gate"
)

// NANO's codes beside those of JSON-RPC.
const (
	notFound   = -32001
	expired    = -32005
	wrongState = -32006
)

const (
	// maxStreams is how many streams of a client there are at a time.
	maxStreams = 64
	// idle is how long a stream is kept after its last use, and remembered how long its end is told.
	idle       = 5 * time.Minute
	remembered = time.Hour
	// maxBytes bounds the text of a stream.
	maxBytes = 4 << 20
	// longestPoll bounds wait_ms.
	longestPoll = time.Minute
)

// Server is the door. It is safe for concurrent use.
type Server struct {
	door    *dialect.Door
	version string

	mu      sync.Mutex
	streams map[string]*stream
}

// New returns the door. The version is the program's.
func New(c dialect.Config, version string) *Server {
	return &Server{door: dialect.NewDoor(c), version: version, streams: map[string]*stream{}}
}

// ServeHTTP answers /mcp, for calls, and /ws, for WebSockets.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/ws":
		s.door.Socket(w, r, func(socket *dialect.Socket, message []byte) {
			s.serve(&caller{ctx: socket.Context, client: clientOf(r), socket: socket}, message)
		})
	case r.URL.Path != "/mcp":
		gate.Refuse(w, messages.Errorf(messages.CodeNotFound, "there is nothing at %.100q; use /mcp or /ws", r.URL.Path))
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		gate.Refuse(w, messages.Errorf(gate.CodeNotAllowed, "/mcp takes POST"))
	default:
		s.post(w, r)
	}
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	body, err := dialect.Read(r)
	if err != nil {
		gate.Refuse(w, err)
		return
	}
	answer := s.answer(&caller{ctx: r.Context(), client: clientOf(r)}, body)
	if answer == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(s.door.Redact(answer)) // a client that left misses nothing
}

// clientOf is the caller's principal, or its address where there are no tokens.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return cmp.Or(gate.From(r.Context()).Name, "@"+host)
}

// caller is who calls, and how the chunks of a stream reach it: by polls, or over the socket.
type caller struct {
	ctx    context.Context
	client string
	socket *dialect.Socket
	after  []func() // what follows once the answer was sent
}

// serve answers a message of a socket, and then pushes the streams that it began.
func (s *Server) serve(c *caller, message []byte) {
	if answer := s.answer(c, message); answer != nil && c.socket.Send(answer) != nil {
		return
	}
	var pushes sync.WaitGroup
	defer pushes.Wait()
	for _, push := range c.after {
		pushes.Go(push)
	}
}

// answer answers a call or a batch. It returns nil where there is nothing to answer.
func (s *Server) answer(c *caller, body []byte) []byte {
	calls, batch, replies := dialect.Calls(body)
	for _, call := range calls {
		if len(call.ID) == 0 {
			continue // a notification; a run without an answer is nobody's
		}
		result, err := s.call(c, call)
		replies = append(replies, dialect.AnswerTo(call, result, err))
	}
	switch {
	case len(replies) == 0:
		return nil
	case batch:
		return dialect.JSON(replies)
	}
	return dialect.JSON(replies[0])
}

func (s *Server) call(c *caller, call dialect.Call) (any, error) {
	switch call.Method {
	case "run":
		return s.run(c, call)
	case "initialize":
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		err := dialect.Params(call, &p)
		return map[string]any{"protocolVersion": cmp.Or(p.ProtocolVersion, "2025-01-07"),
			"capabilities": map[string]any{"streaming": true},
			"serverInfo":   map[string]string{"name": "lastword", "version": s.version}}, err
	case "ping":
		return map[string]any{}, nil
	}
	return nil, &dialect.RPCError{Code: dialect.MethodNotFound, Message: "there is no method " + call.Method +
		"; use initialize and run"}
}

// params are those of run.
type params struct {
	Stream  bool            `json:"stream"`
	Prompt  string          `json:"prompt"`
	Context string          `json:"context"`
	Job     string          `json:"job"`
	Input   json.RawMessage `json:"input"`

	StreamID string `json:"stream_id"`
	FromSeq  int    `json:"from_seq"`
	WaitMS   int64  `json:"wait_ms"`
}

func (s *Server) run(c *caller, call dialect.Call) (any, error) {
	var p params
	if err := dialect.Params(call, &p); err != nil {
		return nil, err
	}
	if p.StreamID != "" {
		return s.poll(c, p)
	}
	q := s.door.Message(p.Prompt, p.Context)
	if p.Job != "" {
		q = messages.Request{Job: p.Job, Input: p.Input}
	}
	made, err := s.newStream(c, p.Stream)
	if err != nil {
		return nil, err
	}
	if q.Labels == nil {
		q.Labels = map[string]string{}
	}
	q.Labels["nano_stream"] = made.id
	if made.run, err = s.door.Start(c.ctx, q); err != nil {
		s.drop(made)
		return nil, err
	}
	close(made.started)
	if !p.Stream {
		return made.whole(c.ctx)
	}
	if c.socket != nil {
		c.after = append(c.after, func() { made.push(c, 0) })
	}
	return map[string]string{"stream_id": made.id, "status": "streaming_started", "run_id": string(made.run)}, nil
}

// poll answers with the chunks that there are. On a socket it has them pushed instead.
func (s *Server) poll(c *caller, p params) (any, error) {
	found, err := s.find(c, p.StreamID)
	if err != nil {
		return nil, err
	}
	if p.FromSeq < 0 || p.WaitMS < 0 {
		return nil, &dialect.RPCError{Code: dialect.InvalidParams, Message: "from_seq and wait_ms must not be negative"}
	}
	if c.socket != nil {
		c.after = append(c.after, func() { found.push(c, p.FromSeq) })
		return map[string]string{"stream_id": found.id, "status": "streaming_started", "run_id": string(found.run)}, nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, min(time.Duration(p.WaitMS)*time.Millisecond, longestPoll))
	defer cancel()
	out := struct {
		StreamID string  `json:"stream_id"`
		Chunks   []chunk `json:"chunks"`
		HasMore  bool    `json:"has_more"`
	}{found.id, []chunk{}, true}
	found.follow(ctx, p.FromSeq, func(chunks []chunk, ended bool) bool {
		out.Chunks, out.HasMore = append(out.Chunks, chunks...), !ended
		return false
	})
	return out, nil
}

// newStream makes a stream of the caller's. The oldest that has ended makes room.
func (s *Server) newStream(c *caller, streams bool) (*stream, error) {
	made := &stream{server: s, id: strings.ToLower(rand.Text()[:16]), client: c.client, streams: streams,
		principal: gate.From(c.ctx).Name, started: make(chan struct{}), more: make(chan struct{}),
		pump: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	live, oldest := 0, (*stream)(nil)
	for _, one := range s.streams {
		if one.client != c.client || one.gone {
			continue
		}
		live++
		if one.hasEnded() && (oldest == nil || one.used.Before(oldest.used)) {
			oldest = one
		}
	}
	if live >= maxStreams && oldest == nil {
		return nil, &dialect.RPCError{Code: dialect.InternalError, Message: "you have 64 streams; wait until one has ended",
			Data: map[string]any{"code": messages.CauseLimitExceeded, "retryable": true}}
	}
	if live >= maxStreams {
		oldest.expire()
	}
	s.streams[made.id] = made
	made.touch()
	return made, nil
}

// drop forgets a stream that has no run.
func (s *Server) drop(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.timer.Stop()
	delete(s.streams, one.id)
}

// find returns the caller's stream. Errors: notFound, for the streams of others too; expired; wrongState, for the
// stream of a call that did not ask for chunks.
func (s *Server) find(c *caller, id string) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(code int, why string) (*stream, error) {
		return nil, &dialect.RPCError{Code: code, Message: why, Data: map[string]string{"stream_id": id}}
	}
	one := s.streams[id]
	switch {
	case one == nil || one.principal != gate.From(c.ctx).Name:
		return refuse(notFound, "there is no such stream")
	case one.gone:
		return refuse(expired, "the stream has expired; the run's id is in its first answer")
	case !one.streams:
		return refuse(wrongState, "the call of this id did not ask for a stream")
	}
	one.touch()
	return one, nil
}
