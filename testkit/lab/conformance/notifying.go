package conformance

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const step = 50 * time.Millisecond

// addNotifying adds the tools that say something before their result.
func addNotifying(s *server.MCPServer) {
	s.AddTool(tool("test_tool_with_logging", "Sends three log messages while it works."),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return logging(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")
		})
	s.AddTool(tool("test_logging_tool", "Sends a log message where the request asks for them."),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return logging(ctx, "Tool execution started")
		})
	s.AddTool(tool("test_tool_with_progress", "Says how far it is: 0, 50 and 100 of 100."), progressing)
}

func logging(ctx context.Context, lines ...string) (*mcp.CallToolResult, error) {
	for i, line := range lines {
		if err := wait(ctx, i); err != nil {
			return nil, err
		}
		if err := log(wire.From(ctx), line); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("The work is done."), nil
}

// log sends the line at level info. From 2026-07-28 on, clients ask for log messages request by request.
func log(x *wire.Exchange, line string) error {
	if x.Modern() && !asksForLogs(x) {
		return nil
	}
	return x.Notify("notifications/message", map[string]any{"level": "info", "logger": "conformance", "data": line})
}

func progressing(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i, done := range []int{0, 50, 100} {
		if err := wait(ctx, i); err != nil {
			return nil, err
		}
		if err := progress(wire.From(ctx), done); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("The work is done."), nil
}

func progress(x *wire.Exchange, done int) error {
	token := x.ProgressToken()
	if token == nil {
		return nil
	}
	return x.Notify("notifications/progress", map[string]any{"progressToken": token, "progress": done, "total": 100})
}

// wait waits a step, but not before the first.
func wait(ctx context.Context, i int) error {
	if i == 0 {
		return nil
	}
	return sleep(ctx, step)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func asksForLogs(x *wire.Exchange) bool {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	return json.Unmarshal(x.Params(), &params) == nil && params.Meta[mcp.MetaKeyLogLevel] != nil
}
