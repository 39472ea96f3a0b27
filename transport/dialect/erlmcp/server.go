package erlmcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/gate"
)

// erlmcp's codes beside those of JSON-RPC.
const (
	toolNotFound = -32002
	taskNotFound = -32081
	taskRunning  = -32089
)

// longestResult is how long tasks/result waits.
const longestResult = 30 * time.Second

// Server is the door. It is safe for concurrent use.
type Server struct {
	door    *dialect.Door
	version string
}

// New returns the door. The version is the program's.
func New(c dialect.Config, version string) *Server { return &Server{dialect.NewDoor(c), version} }

// ServeHTTP answers calls, and opens WebSockets.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Upgrade") != "":
		s.door.Socket(w, r, s.message)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		gate.Refuse(w, messages.Errorf(gate.CodeNotAllowed, "this path takes POST and WebSockets"))
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
	calls, batch, replies := dialect.Calls(body)
	for _, c := range calls {
		result, begun, err := s.call(r.Context(), c)
		if begun != nil && !batch {
			s.stream(w, r, dialect.AnswerTo(c, result, nil), begun)
			return
		}
		if begun != nil {
			err = &dialect.RPCError{Code: dialect.InvalidRequest, Message: "a call of a batch cannot stream; subscribe to " +
				string(begun.run)}
		}
		if len(c.ID) > 0 {
			replies = append(replies, dialect.AnswerTo(c, result, err))
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case len(replies) == 0:
		w.WriteHeader(http.StatusAccepted)
	case batch:
		s.write(w, replies)
	default:
		s.write(w, replies[0])
	}
}

func (s *Server) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.door.Redact(dialect.JSON(v))) // a client that left misses nothing
}

// stream writes the reply and then the stream that it began.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, reply dialect.Reply, begun *begun) {
	sse := strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	kind, before, after, beat := "application/x-ndjson", "", "\n", "\n"
	if sse {
		kind, before, after, beat = "text/event-stream", "data: ", "\n\n", ":\n\n"
	}
	out := s.door.Stream(w, kind)
	emit := func(frame []byte) {
		_, _ = out.Write(append(append([]byte(before), frame...), after...)) // Flush fails
	}
	emit(dialect.JSON(reply))
	_ = out.Flush() // so does the next one
	beats := func() { _, _ = out.WriteString(beat) }
	if s.play(r.Context(), out, begun, emit, beats) != nil {
		out.Break()
	}
}

// message answers a message of a socket, and writes the streams that it began.
func (s *Server) message(socket *dialect.Socket, message []byte) {
	calls, batch, replies := dialect.Calls(message)
	var streams []*begun
	for _, c := range calls {
		result, begun, err := s.call(socket.Context, c)
		if begun != nil {
			streams = append(streams, begun)
		}
		if len(c.ID) > 0 {
			replies = append(replies, dialect.AnswerTo(c, result, err))
		}
	}
	var answer any = replies
	switch {
	case len(replies) == 0:
		return
	case !batch:
		answer = replies[0]
	}
	if socket.Send(dialect.JSON(answer)) != nil {
		return
	}
	done := make(chan struct{})
	for _, one := range streams {
		go func() {
			defer func() { done <- struct{}{} }()
			frames := socket.Frames()
			_ = s.play(socket.Context, frames, one, frames.Add, nil) // it has said so, or the connection is gone
		}()
	}
	for range streams {
		<-done
	}
}

// begun is a stream that a call began to read.
type begun struct {
	run   messages.RunID
	delay time.Duration
	token any // of the caller's progress, or nil
}

func (s *Server) call(ctx context.Context, c dialect.Call) (result any, stream *begun, err error) {
	var p struct {
		StreamID messages.RunID  `json:"streamId"`
		TaskID   messages.RunID  `json:"taskId"`
		Request  string          `json:"request"`
		Value    json.RawMessage `json:"value"`
		Version  string          `json:"protocolVersion"`
	}
	if c.Method == "tools/call" {
		return s.callTool(ctx, c)
	}
	if err := dialect.Params(c, &p); err != nil {
		return nil, nil, err
	}
	id := cmp.Or(p.StreamID, p.TaskID)
	switch c.Method {
	case "initialize":
		return map[string]any{"protocolVersion": cmp.Or(p.Version, "2025-11-25"),
			"capabilities": map[string]any{"tools": map[string]any{"streaming": true}, "tasks": map[string]any{}},
			"serverInfo":   map[string]string{"name": "lastword", "version": s.version}}, nil, nil
	case "ping", "notifications/initialized":
		return map[string]any{}, nil, nil
	case "tools/list":
		return s.tools(), nil, nil
	case "stream/subscribe":
		return s.subscribe(ctx, &begun{run: id})
	case "stream/cancel", "tasks/cancel":
		err = s.found(s.door.Cancel(ctx, id, "asked by a client of erlmcp"))
	case "stream/answer":
		err = s.found(s.door.Answer(ctx, id, p.Request, p.Value))
	case "tasks/get":
	case "tasks/result":
		result, err = s.result(ctx, id)
		return result, nil, err
	default:
		return nil, nil, &dialect.RPCError{Code: dialect.MethodNotFound, Message: "there is no method " + c.Method}
	}
	if err != nil {
		return nil, nil, err
	}
	result, err = s.task(ctx, id)
	return result, nil, err
}

func (s *Server) tools() any {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	all := []tool{}
	for _, job := range s.door.Jobs {
		schema := job.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		all = append(all, tool{job.Name, job.Description, schema})
	}
	return map[string]any{"tools": all}
}

// callTool starts a run, in one of the three modes.
func (s *Server) callTool(ctx context.Context, c dialect.Call) (any, *begun, error) {
	var p struct {
		Name      string
		Arguments json.RawMessage
		Stream    json.RawMessage
		Task      *struct {
			Timeout int64 `json:"timeout"`
		}
		Meta struct {
			ProgressToken any `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := dialect.Params(c, &p); err != nil {
		return nil, nil, err
	}
	if p.Name == "" {
		return nil, nil, &dialect.RPCError{Code: dialect.InvalidParams, Message: "the call names no tool"}
	}
	if _, err := s.door.Job(p.Name); err != nil {
		return nil, nil, &dialect.RPCError{Code: toolNotFound, Message: err.Error()}
	}
	streams, delay, err := streamOf(p.Stream)
	if err != nil {
		return nil, nil, err
	}
	q := messages.Request{Job: p.Name, Input: p.Arguments}
	if len(q.Input) == 0 {
		q.Input = json.RawMessage("{}")
	}
	if p.Task != nil {
		q.Limits.WallClockMS = p.Task.Timeout
	}
	id, err := s.door.Start(ctx, q)
	switch {
	case err != nil:
		return nil, nil, err
	case streams:
		return s.subscribe(ctx, &begun{id, delay, p.Meta.ProgressToken})
	case p.Task != nil:
		task, err := s.task(ctx, id)
		return map[string]any{"task": task}, nil, err
	}
	result, err := s.wait(ctx, id)
	return result, nil, err
}

// streamOf reads the option stream: true, false, or {chunkDelayMs}.
func streamOf(option json.RawMessage) (on bool, delay time.Duration, err error) {
	var with struct {
		ChunkDelayMS int64 `json:"chunkDelayMs"`
	}
	switch {
	case len(option) == 0 || bytes.Equal(option, []byte("null")) || bytes.Equal(option, []byte("false")):
		return false, 0, nil
	case bytes.Equal(option, []byte("true")):
		return true, 0, nil
	case option[0] != '{' || json.Unmarshal(option, &with) != nil || with.ChunkDelayMS < 0 || with.ChunkDelayMS > 60_000:
		return false, 0, &dialect.RPCError{Code: dialect.InvalidParams,
			Message: "stream is true, false, or {chunkDelayMs} of at most 60000"}
	}
	return true, time.Duration(with.ChunkDelayMS) * time.Millisecond, nil
}

// subscribe answers with the stream of a run of the caller.
func (s *Server) subscribe(ctx context.Context, b *begun) (any, *begun, error) {
	if _, err := s.door.Run(ctx, b.run); err != nil {
		return nil, nil, s.found(err)
	}
	token := b.token
	if token == nil {
		token = b.run
	}
	return map[string]any{"streamId": b.run, "_meta": map[string]any{"progressToken": token, "streaming": true}}, b, nil
}

// found is the error with erlmcp's code for a run that the caller does not have.
func (s *Server) found(err error) error {
	if messages.CodeOf(err) == messages.CodeNotFound {
		return &dialect.RPCError{Code: taskNotFound, Message: err.Error()}
	}
	return err
}

// task is what a run is as a task.
func (s *Server) task(ctx context.Context, id messages.RunID) (any, error) {
	state, err := s.door.Run(ctx, id)
	if err != nil {
		return nil, s.found(err)
	}
	out := map[string]any{"taskId": id, "status": state.Status, "createdAt": state.QueuedAt,
		"updatedAt": state.UpdatedAt}
	if state.Status == messages.Canceled {
		out["status"] = "cancelled"
	}
	if state.End != nil && state.End.Error != nil {
		out["error"] = map[string]any{"code": state.End.Cause, "message": state.End.Error.Message}
	}
	return out, nil
}

// result waits for the result of a task, but not for ever.
func (s *Server) result(ctx context.Context, id messages.RunID) (any, error) {
	if _, err := s.door.Run(ctx, id); err != nil {
		return nil, s.found(err)
	}
	limit, cancel := context.WithTimeout(ctx, longestResult)
	defer cancel()
	result, err := s.wait(limit, id)
	if err != nil && limit.Err() != nil && ctx.Err() == nil {
		return nil, &dialect.RPCError{Code: taskRunning, Message: "the task has not ended; ask again"}
	}
	return result, err
}
