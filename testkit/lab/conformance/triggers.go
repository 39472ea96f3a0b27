package conformance

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// addTriggers adds the tools that change what the server offers, for those who listen. What they add is gone when they
// answer.
func addTriggers(s *server.MCPServer) {
	s.AddTool(tool("test_trigger_tool_change", "Adds a tool and takes it away again."),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(tool("test_passing_tool", "Is gone already."), text("It was there."))
			s.DeleteTools("test_passing_tool")
			return mcp.NewToolResultText("The list of tools has changed."), nil
		})
	s.AddTool(tool("test_trigger_prompt_change", "Adds a prompt and takes it away again."),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(mcp.NewPrompt("test_passing_prompt"), saying("It was there."))
			s.DeletePrompts("test_passing_prompt")
			return mcp.NewToolResultText("The list of prompts has changed."), nil
		})
}
