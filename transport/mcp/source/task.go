package source

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// tasksExtension says that this client follows the tasks that a server of 2026-07-28 makes of calls.
const tasksExtension = "io.modelcontextprotocol/tasks"

// remoteTask is a task as its server shows it.
type remoteTask struct {
	Type   string                     `json:"resultType"`
	ID     string                     `json:"taskId"`
	Status mcp.TaskStatus             `json:"status"`
	Poll   int64                      `json:"pollIntervalMs"`
	Result json.RawMessage            `json:"result"`
	Error  *mcp.JSONRPCErrorDetails   `json:"error"`
	Inputs map[string]json.RawMessage `json:"inputRequests"`
}

// taskIDs are the ids of requests about tasks.
var taskIDs atomic.Int64

// shortestPoll and usualPoll are how long a task is left alone.
const shortestPoll, usualPoll = 50 * time.Millisecond, time.Second

// followed sends a call and follows the task that the server makes of it, which mcp-go's client does not know: it gets the
// result, or what the task asks as input_required. Then it repeats the call with the answers, which become the task's.
func followed(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	ours := requestOf(ctx)
	if ours == nil || ours.call == nil || r.Method != string(mcp.MethodToolsCall) {
		return send(ctx, r)
	}
	var params struct {
		Meta      json.RawMessage            `json:"_meta"`
		Responses map[string]json.RawMessage `json:"inputResponses"`
	}
	text, _ := json.Marshal(r.Params) // it is sent as JSON
	_ = json.Unmarshal(text, &params)
	about := func(ctx context.Context, method string, responses map[string]json.RawMessage) (*transport.JSONRPCResponse, error) {
		q := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(2*ownIDs + taskIDs.Add(1)), Method: method, Header: http.Header{}}
		q.Header.Set(mcp.HeaderMethod, method)
		q.Header.Set(mcp.HeaderName, ours.task)
		q.Params = struct {
			ID        string                     `json:"taskId"`
			Responses map[string]json.RawMessage `json:"inputResponses,omitempty"`
			Meta      json.RawMessage            `json:"_meta"`
		}{ours.task, responses, params.Meta}
		return send(ctx, q)
	}
	var answer *transport.JSONRPCResponse
	var err error
	if ours.task == "" {
		answer, err = send(ctx, r)
	} else if answer, err = about(ctx, "tasks/update", params.Responses); err == nil && answer.Error == nil {
		for name := range params.Responses {
			ours.answered[name] = true
		}
		answer, err = about(ctx, "tasks/get", nil)
	}
	for {
		var now remoteTask
		if err != nil || answer.Error != nil || json.Unmarshal(answer.Result, &now) != nil || ours.task == "" && now.Type != "task" {
			return answer, err
		}
		if ours.task == "" {
			ours.task, ours.answered = now.ID, map[string]bool{}
		}
		for name := range ours.answered {
			delete(now.Inputs, name) // the server may show it for a while
		}
		switch {
		case now.Status == mcp.TaskStatusCompleted:
			answer.Result = now.Result
			return answer, nil
		case now.Status == mcp.TaskStatusFailed && now.Error != nil:
			answer.Result, answer.Error = nil, now.Error
			return answer, nil
		case now.Status == mcp.TaskStatusFailed, now.Status == mcp.TaskStatusCancelled:
			return transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, "the server says of the call's task: "+string(now.Status), nil), nil
		case len(now.Inputs) > 0:
			answer.Result, err = json.Marshal(map[string]any{"resultType": "input_required", "inputRequests": now.Inputs, "requestState": now.ID})
			return answer, err
		}
		pause := cmp.Or(time.Duration(now.Poll)*time.Millisecond, usualPoll)
		select {
		case <-time.After(max(pause, shortestPoll)):
			answer, err = about(ctx, "tasks/get", nil)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if ctx.Err() != nil {
			go func() {
				ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), replyTimeout)
				defer stop()
				_, _ = about(ctx, "tasks/cancel", nil) // it may have ended
			}()
		}
	}
}
