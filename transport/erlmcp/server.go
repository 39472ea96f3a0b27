package erlmcp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// Error codes of erlmcp beside the codes of JSON-RPC.
const (
	toolNotFound = -32002
	taskNotFound = -32081
	taskRunning  = -32089
)

// longestResult is how long tasks/result waits.
const longestResult = 30 * time.Second

type server struct{ *door.Door }

// Path is the path that this package serves.
const Path = "/erlmcp"

// New returns the handler for Path.
func New(d *door.Door) *door.Handler {
	s := server{d}
	rpc := &rpc.Server{Door: d, Known: "2025-11-25", Serve: s.serve,
		Capabilities: map[string]any{"tools": map[string]any{"streaming": true}, "tasks": map[string]any{}}}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"POST " + Path: rpc.Post,
		"GET " + Path:  rpc.Open,
	}, auth.Refuse)
}

// begun writes the stream that a call has begun.
type begun = func(*rpc.Wire) error

// params are the parameters of all methods.
type params struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Stream    json.RawMessage `json:"stream"`
	Task      *struct{ Timeout int64 }
	Meta      struct{ ProgressToken any } `json:"_meta"`

	StreamID messages.RunID  `json:"streamId"`
	TaskID   messages.RunID  `json:"taskId"`
	Request  string          `json:"request"`
	Value    json.RawMessage `json:"value"`
}

// serve answers one call. All methods that name a run answer with the run's task, except tasks/result.
func (s server) serve(caller *rpc.Caller, c jsonrpc.Call) (result any, stream begun, err error) {
	var p params
	ctx := caller.Context
	if err := jsonrpc.Params(c, &p); err != nil {
		return nil, nil, err
	}
	id := cmp.Or(p.StreamID, p.TaskID)
	if id == "" && (strings.HasPrefix(c.Method, "stream/") || strings.HasPrefix(c.Method, "tasks/")) {
		return nil, nil, messages.InvalidInput("%s needs a streamId or taskId", c.Method)
	}
	switch c.Method {
	case "tools/call":
		return s.callTool(ctx, p)
	case "tools/list":
		return s.tools(), nil, nil
	case "stream/subscribe":
		return s.subscribe(ctx, id, 0, nil)
	case "stream/cancel", "tasks/cancel":
		err = s.Cancel(ctx, id, "asked by a client of erlmcp")
	case "stream/answer":
		err = s.Answer(ctx, door.Client, id, p.Request, p.Value)
	case "tasks/get":
	case "tasks/result":
		result, err = s.result(ctx, id)
		return result, nil, found(err)
	default:
		return nil, nil, jsonrpc.NoMethod(c)
	}
	if err == nil {
		result, err = s.task(ctx, id)
	}
	return result, nil, found(err)
}

// tools returns the jobs as tools. Clients demand a schema, so a job without one gets an empty object.
func (s server) tools() any {
	all := []map[string]any{}
	for _, job := range s.Jobs {
		schema := job.Input.JSON()
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		all = append(all, map[string]any{"name": job.Name, "description": job.Description, "inputSchema": schema})
	}
	return map[string]any{"tools": all}
}

// callTool starts a run, in one of the three modes.
func (s server) callTool(ctx context.Context, p params) (any, begun, error) {
	if p.Name == "" {
		return nil, nil, messages.InvalidInput("the call names no tool")
	}
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return nil, nil, err
	}
	job, err := s.Job(p.Name)
	if err != nil {
		return nil, nil, &jsonrpc.RPCError{Code: toolNotFound, Message: err.Error()}
	}
	streams, delay, err := streamOf(p.Stream)
	if err != nil {
		return nil, nil, err
	}
	q := messages.Request{Job: p.Name, Input: p.Arguments}
	if streams { // stream_input tells what is asked, and stream/answer answers
		q.Input = door.Asking(job, q.Input)
	}
	if p.Task != nil {
		q.Limits.WallClockMS = p.Task.Timeout
	}
	id, err := s.Start(ctx, q)
	switch {
	case err != nil:
		return nil, nil, err
	case streams:
		return s.subscribe(ctx, id, delay, p.Meta.ProgressToken)
	case p.Task != nil:
		task, err := s.task(ctx, id)
		return map[string]any{"task": task}, nil, err
	}
	result, err := s.whole(ctx, id)
	return result, nil, err
}

// streamOf parses the option stream: true, false, or {chunkDelayMs}.
func streamOf(option json.RawMessage) (on bool, delay time.Duration, err error) {
	var with struct{ ChunkDelayMS int64 }
	switch {
	case slices.Contains([]string{"", "null", "false", "true"}, string(option)):
		return string(option) == "true", 0, nil
	case option[0] != '{' || json.Unmarshal(option, &with) != nil || with.ChunkDelayMS < 0 || with.ChunkDelayMS > 10_000:
		return false, 0, messages.InvalidInput("stream is true, false, or {chunkDelayMs} of at most 10000")
	}
	return true, time.Duration(with.ChunkDelayMS) * time.Millisecond, nil
}

// subscribe returns the stream of the caller's run. token is the caller's progress token, or nil.
func (s server) subscribe(ctx context.Context, id messages.RunID, delay time.Duration, token any) (any, begun, error) {
	if _, err := s.Run(ctx, id); err != nil {
		return nil, nil, found(err)
	}
	meta := map[string]any{"progressToken": token, "streaming": true}
	if token == nil {
		meta["progressToken"] = id
	}
	return map[string]any{"streamId": id, "_meta": meta}, func(to *rpc.Wire) error {
		w := &writer{SegmentWriter: door.SegmentWriter{Run: id}, Wire: to, ctx: ctx, delay: delay, token: token}
		// A subscriber that falls behind gets what has accumulated as one chunk.
		follow := messages.FollowOptions{Rate: float64(time.Second) / float64(max(delay, time.Millisecond))}
		if err := door.Play(ctx, s.Door, to.Connection, follow, &table, w); !w.Over { // else the client knows the error
			return err
		}
		return nil
	}, nil
}

// found converts not_found to erlmcp's error code.
func found(err error) error {
	if messages.CodeOf(err) == messages.CodeNotFound {
		return &jsonrpc.RPCError{Code: taskNotFound, Message: err.Error()}
	}
	return err
}

// task returns a run as a task.
func (s server) task(ctx context.Context, id messages.RunID) (any, error) {
	state, err := s.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"taskId": id, "status": state.Status, "createdAt": state.QueuedAt, "updatedAt": state.UpdatedAt}
	if state.Status == messages.Canceled {
		out["status"] = "cancelled"
	}
	if state.End != nil && state.End.Error != nil {
		out["error"] = door.ReasonOf(state.End.Cause, state.End.Error)
	}
	return out, nil
}

// result waits for the result of a task, for a limited time.
func (s server) result(ctx context.Context, id messages.RunID) (any, error) {
	if _, err := s.Run(ctx, id); err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeoutCause(ctx, longestResult,
		&jsonrpc.RPCError{Code: taskRunning, Message: "the task has not ended; ask again"})
	defer cancel()
	return s.whole(limit, id)
}

// whole waits until the run ends, or asks a question that stream/answer can answer. It returns the response of a call
// without a stream.
func (s server) whole(ctx context.Context, id messages.RunID) (any, error) {
	end, err := s.Wait(ctx, id, "")
	if err != nil {
		return nil, err
	}
	text, meta := end.Text, map[string]any{"run_id": id, "finish_reason": end.Reason}
	switch {
	case end.Failed != nil:
		text, meta["error"] = end.Failed.Message, end.Failed
	case end.Asked != nil:
		meta["request"] = end.Asked.Request
	}
	return map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": end.Failed != nil,
		"_meta": meta}, nil
}
