package conformance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// addRounds adds the tools that ask by results of type input_required and keep nothing between two calls. Those that a
// run stands behind are jobs.
func addRounds(s *server.MCPServer) {
	s.AddTool(tool("test_input_required_result_elicitation", "Greets the client's user by name."), greeting)
	s.AddTool(tool("test_input_required_result_sampling", "Has the client's model say a capital."), capital)
	s.AddTool(tool("test_input_required_result_list_roots", "Counts the client's roots."), counting)
	s.AddTool(tool("test_input_required_result_multiple_inputs", "Asks user, model and roots at once."), everything)
	s.AddTool(tool("test_input_required_result_capabilities", "Asks for what the client offers."), offered)
}

func greeting(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.ElicitationResponse(r.Params.InputResponses, "user_name"); said != nil {
		return mcp.NewToolResultText("Hello, " + field(said.Content, "name") + "!"), nil
	}
	return ask("").Elicit("user_name", elicitation("What is your name?", name())).ToolResult(), nil
}

func capital(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.SamplingResponse(r.Params.InputResponses, "capital_question"); said != nil {
		return mcp.NewToolResultText(mcp.GetTextFromContent(said.Content)), nil
	}
	return ask("").Sample("capital_question", prompt("What is the capital of France?", 100)).ToolResult(), nil
}

func counting(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.RootsResponse(r.Params.InputResponses, "client_roots"); said != nil {
		return mcp.NewToolResultText(fmt.Sprintf("The client has these roots: %v.", said.Roots)), nil
	}
	return ask("").Roots("client_roots").ToolResult(), nil
}

func everything(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	user := server.ElicitationResponse(r.Params.InputResponses, "user_name")
	model := server.SamplingResponse(r.Params.InputResponses, "greeting")
	roots := server.RootsResponse(r.Params.InputResponses, "client_roots")
	if user == nil || model == nil || roots == nil {
		return ask("everything").
			Elicit("user_name", elicitation("What is your name?", name())).
			Sample("greeting", prompt("Generate a greeting", 50)).
			Roots("client_roots").ToolResult(), nil
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s: %s, of %d roots", field(user.Content, "name"),
		mcp.GetTextFromContent(model.Content), len(roots.Roots))), nil
}

func offered(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(r.Params.InputResponses) > 0 {
		return mcp.NewToolResultText("The client has answered."), nil
	}
	x, b, asked := wire.From(ctx), ask(""), false
	if x.Elicits() {
		b, asked = b.Elicit("user_name", elicitation("What is your name?", name())), true
	}
	if x.Capabilities().Sampling != nil {
		b, asked = b.Sample("greeting", prompt("Generate a greeting", 50)), true
	}
	if !asked {
		return mcp.NewToolResultText("The client offers nothing."), nil
	}
	return b.ToolResult(), nil
}

func name() json.RawMessage { return properties(`"name": {"type": "string"}`, "name") }

// field is the text of a form's field, as far as the form has it.
func field(form any, name string) string {
	fields, _ := form.(map[string]any)
	words, _ := fields[name].(string)
	return words
}
