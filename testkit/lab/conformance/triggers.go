package conformance

import (
	"context"

	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp"
)

// addTriggers adds the tools that change what the server offers, for those who listen. What they add is gone when they
// answer.
func addTriggers(s *mcp.Server, library *server.MCPServer) error {
	passing := mcp.Tool{Name: "test_passing_tool", Description: "Is gone already.", ReadOnly: true}
	nothing := func(context.Context, struct{}) (*mcp.Result, error) { return &mcp.Result{}, nil }
	tools := mcp.Tool{Name: "test_trigger_tool_change", Description: "Adds a tool and takes it away again.", ReadOnly: true}
	err := mcp.AddTool(s, tools, func(context.Context, struct{}) (*mcp.Result, error) {
		err := mcp.AddTool(s, passing, nothing)
		library.DeleteTools(passing.Name)
		return &mcp.Result{Text: "The list of tools has changed."}, err
	})
	if err != nil {
		return err
	}
	prompts := mcp.Tool{Name: "test_trigger_prompt_change", Description: "Adds a prompt and takes it away again.",
		ReadOnly: true}
	return mcp.AddTool(s, prompts, func(context.Context, struct{}) (*mcp.Result, error) {
		s.AddPrompt(mcp.Prompt{Name: "test_passing_prompt", Text: func(map[string]string) string { return "It was there." }})
		library.DeletePrompts("test_passing_prompt")
		return &mcp.Result{Text: "The list of prompts has changed."}, nil
	})
}
