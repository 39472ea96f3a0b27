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

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/pieces"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// Error codes of NANO beside the codes of JSON-RPC.
const (
	notFound   = -32001
	expired    = -32005
	wrongState = -32006
)

const (
	// maxStreams is the maximum number of streams of one client.
	maxStreams = 64
	// idle is how long a stream is kept after its last use. remembered is how long a later call is told that it has
	// expired.
	idle       = 5 * time.Minute
	remembered = time.Hour
	// maxBytes is the maximum length of a stream's text.
	maxBytes = 4 << 20
	// longestPoll limits wait_ms.
	longestPoll = time.Minute
)

// server keeps the streams of all clients. mu guards streams and most fields of each stream.
type server struct {
	*door.Door

	mu      sync.Mutex
	streams map[string]*stream
}

// Paths returns the paths at which this package can be served next to others.
func Paths() []string { return []string{"/nano/mcp", "/nano/ws"} }

// New returns the handler for the Paths, and for NANO's own paths /mcp and /ws.
func New(d *door.Door) *door.Handler {
	s := &server{Door: d, streams: map[string]*stream{}}
	rpc := &rpc.Server{Door: d, Known: "2025-01-07", Capabilities: map[string]any{"streaming": true}, Serve: s.run}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /mcp": rpc.Post, "POST /nano/mcp": rpc.Post,
		"GET /ws": rpc.Open, "GET /nano/ws": rpc.Open,
	}, auth.Refuse)
}

// begun pushes the chunks of a stream over a WebSocket.
type begun = func(to *rpc.Wire) error

// params are the parameters of run.
type params struct {
	Stream  bool            `json:"stream"`
	Prompt  string          `json:"prompt"`
	Context string          `json:"context"`
	Job     string          `json:"job"`
	Input   json.RawMessage `json:"input"`
	Busy    messages.Busy   `json:"lastword.busy"` // as in POST /v1/runs

	StreamID string `json:"stream_id"`
	FromSeq  int    `json:"from_seq"`
	WaitMS   int64  `json:"wait_ms"`
}

// run answers a call: it polls a stream, or starts a run and then streams it or waits for its end.
func (s *server) run(c *rpc.Caller, call jsonrpc.Call) (any, begun, error) {
	if call.Method != "run" {
		return nil, nil, jsonrpc.NoMethod(call)
	}
	var p params
	if err := jsonrpc.Params(call, &p); err != nil {
		return nil, nil, err
	}
	if p.StreamID != "" {
		return s.poll(c, p)
	}
	made, err := s.add(c, &stream{id: strings.ToLower(rand.Text()[:16]), streams: p.Stream, pieces: pieces.NewNumbered(maxBytes, pieces.Served{})})
	if err != nil {
		return nil, nil, err
	}
	id, answered, err := s.say(c.Context, p)
	if err != nil {
		s.drop(made)
		return nil, nil, err
	}
	if !p.Stream {
		result, err := s.whole(c.Context, made, id, answered)
		return result, nil, err
	}
	made.begin(id, answered)
	_ = made.keep(c.Context) // without the row, the id ends with the process
	return made.started(c, 0)
}

// say starts a run, or answers the question of the newest run in the context.
func (s *server) say(ctx context.Context, p params) (id messages.RunID, answered string, err error) {
	if p.Context != "" && p.Prompt != "" && p.Job == "" && auth.From(ctx).May(auth.ReadRuns) {
		if run, question, ok, err := s.AnswerTurn(ctx, door.Client, p.Context, p.Prompt); ok || err != nil {
			return run.RunID, question.Request, err
		}
	}
	q := s.Message(p.Prompt, p.Context)
	if p.Job != "" {
		q = messages.Request{Job: p.Job, Input: p.Input}
	}
	q.Busy = p.Busy
	id, err = s.Start(ctx, q)
	return id, "", err
}

// whole waits until the run ends or asks something, and returns its text. A poll of its stream gets no chunks.
func (s *server) whole(ctx context.Context, made *stream, id messages.RunID, answered string) (any, error) {
	end, err := s.Wait(ctx, id, answered)
	made.pieces.End(nil)
	switch {
	case err != nil:
		return nil, err
	case end.Failed != nil:
		return nil, &jsonrpc.RPCError{Code: jsonrpc.InternalError, Message: end.Failed.Message,
			Data: map[string]any{"code": end.Failed.Code, "retryable": end.Failed.Retryable, "provider": end.Failed.Provider,
				"run_id": id, "text": end.Text}}
	}
	return map[string]any{"text": end.Text, "stream_id": made.id, "run_id": id, "finish_reason": end.Reason}, nil
}

// poll returns the chunks that exist. On a WebSocket, the chunks are pushed instead.
func (s *server) poll(c *rpc.Caller, p params) (any, begun, error) {
	found, err := s.find(c, p.StreamID)
	switch {
	case err != nil:
		return nil, nil, err
	case p.FromSeq < 0 || p.WaitMS < 0:
		return nil, nil, &jsonrpc.RPCError{Code: jsonrpc.InvalidParams, Message: "from_seq and wait_ms must not be negative"}
	}
	ctx, cancel := context.WithTimeout(c.Context, time.Duration(min(p.WaitMS, longestPoll.Milliseconds()))*time.Millisecond)
	defer cancel()
	out := struct {
		StreamID string  `json:"stream_id"`
		Chunks   []chunk `json:"chunks"`
		HasMore  bool    `json:"has_more"`
	}{found.id, []chunk{}, true}
	if !c.Socket {
		found.follow(ctx, p.FromSeq, func(chunks []chunk, ended bool) bool {
			out.Chunks, out.HasMore = append(out.Chunks, chunks...), !ended
			return false
		})
	}
	switch err := found.keep(c.Context); {
	case messages.CodeOf(err) == messages.CodeConflict:
		s.mu.Lock()
		s.lose(found)
		s.mu.Unlock()
		return s.poll(c, p)
	case err != nil:
		return nil, nil, err
	case c.Socket:
		return found.started(c, p.FromSeq)
	}
	return out, nil, nil
}

// add makes made a stream of the caller, and returns it, or the one that has its id already. If there are too many, it
// removes the oldest that has ended. Without tokens, an address is a client.
func (s *server) add(c *rpc.Caller, made *stream) (*stream, error) {
	host, _, _ := net.SplitHostPort(c.Request.RemoteAddr) // the address of a Unix socket has no port
	name := auth.From(c.Context).Name
	made.server, made.principal, made.client = s, name, cmp.Or(name, "@"+cmp.Or(host, c.Request.RemoteAddr))
	made.pushed = c.Socket
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.streams[made.id]; known != nil {
		return known, nil
	}
	live, oldest := 0, (*stream)(nil)
	for _, one := range s.streams {
		if one.client != made.client || one.gone {
			continue
		}
		live++
		if one.pieces.Ended() && (oldest == nil || one.used.Before(oldest.used)) {
			oldest = one
		}
	}
	if live >= maxStreams && oldest == nil {
		return nil, &jsonrpc.RPCError{Code: jsonrpc.InternalError, Message: "you have 64 streams; wait until one has ended",
			Data: map[string]any{"code": messages.CauseLimitExceeded, "retryable": true}}
	}
	if live >= maxStreams {
		oldest.expire()
	}
	s.streams[made.id] = made
	made.touch()
	return made, nil
}

// drop removes a stream.
func (s *server) drop(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.timer.Stop()
	s.lose(one)
}

// lose takes a stream out of the table, where another one may have its id. mu must be held.
func (s *server) lose(one *stream) {
	if s.streams[one.id] == one {
		delete(s.streams, one.id)
	}
}

// find returns the caller's stream. Errors: notFound, also for the streams of others; expired; wrongState for the
// stream of a call that did not ask for chunks.
func (s *server) find(c *rpc.Caller, id string) (*stream, error) {
	s.mu.Lock()
	one := s.streams[id]
	s.mu.Unlock()
	if one == nil {
		var err error
		if one, err = s.restore(c, id); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(code int, why string) (*stream, error) {
		return nil, &jsonrpc.RPCError{Code: code, Message: why, Data: map[string]string{"stream_id": id}}
	}
	switch {
	case one == nil || one.principal != auth.From(c.Context).Name:
		return refuse(notFound, "there is no such stream, or it is gone; the run's id is in its first answer")
	case one.gone:
		return refuse(expired, "the stream has expired; the run's id is in its first answer")
	case !one.streams:
		return refuse(wrongState, "the call of this id did not ask for a stream")
	}
	one.pushed = one.pushed || c.Socket
	one.touch()
	return one, nil
}
