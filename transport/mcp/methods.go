package mcp

import (
	"context"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/task"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// methods returns the handlers of methods that do not go to mcp-go.
func (s *Server) methods() map[string]wire.Method {
	all := s.hub.Methods()
	maps.Copy(all, s.tasks.Methods())
	for name, method := range all {
		all[name] = public(method)
	}
	return all
}

// public returns the method with its errors converted to those that clients may see.
func public(method wire.Method) wire.Method {
	return func(ctx context.Context, x *wire.Exchange) (any, error) {
		result, err := method(ctx, x)
		return result, caller.RPCError(err)
	}
}

// hooks add tasks to what clients of 2025-11-25 see. Other clients must not see them. mcp-go's own support for tasks
// (Tool.Execution) is not used.
func (s *Server) hooks() *server.Hooks {
	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, result *mcp.InitializeResult) {
		if result.ProtocolVersion == task.LegacyVersion {
			result.Capabilities.Tasks = mcp.NewTasksCapability()
		}
	})
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		if task.HasLegacy(wire.From(ctx)) {
			s.showTaskSupport(result.Tools)
		}
	})
	return hooks
}

// showTaskSupport sets how each tool can be called as a task. The slice belongs to this response.
func (s *Server) showTaskSupport(tools []mcp.Tool) {
	for i, tool := range tools {
		t := s.jobs[tool.Name]
		if t == nil || t.Tasks == TasksForbidden {
			continue
		}
		support := mcp.TaskSupportOptional
		if t.Tasks == TasksRequired {
			support = mcp.TaskSupportRequired
		}
		tools[i].Execution = &mcp.ToolExecution{TaskSupport: support}
	}
}
