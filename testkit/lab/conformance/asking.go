package conformance

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// addAsking adds the tools that ask one thing of the client's user or of its model. To clients with sessions mcp-go
// sends the question as a request of the server.
func addAsking(s *server.MCPServer) {
	s.AddTool(tool("test_sampling", "Asks the client's model.",
		mcp.WithString("prompt", mcp.Required(), mcp.Description("What to ask."))), sampling)
	s.AddTool(tool("test_elicitation", "Asks the client's user.",
		mcp.WithString("message", mcp.Required(), mcp.Description("What to ask."))), eliciting)
	s.AddTool(tool("test_elicitation_sep1034_defaults", "Asks with a default for every kind of field."),
		filling("Please look over your particulars.", defaults()))
	s.AddTool(tool("test_elicitation_sep1330_enums", "Asks with every kind of choice."),
		filling("Please choose.", choices()))
	s.AddTool(tool("test_streaming_elicitation", "Asks the client's user, on a stream where there is one."),
		filling("What is your name?", properties(`"name": {"type": "string"}`)))
	s.AddTool(tool("test_missing_capability", "Needs a client with a model."), needing)
}

func sampling(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.SamplingResponse(r.Params.InputResponses, "answer"); said != nil {
		return mcp.NewToolResultText("LLM response: " + mcp.GetTextFromContent(said.Content)), nil
	}
	return ask("").Sample("answer", prompt(r.GetString("prompt", ""), 100)).ToolResult(), nil
}

func eliciting(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	form := properties(`"username": {"type": "string", "description": "User's response"},
		"email": {"type": "string", "description": "User's email address"}`, "username", "email")
	return fill(r, "User response:", elicitation(r.GetString("message", ""), form))
}

// filling is a tool that has the client's user fill in the form.
func filling(message string, form json.RawMessage) server.ToolHandlerFunc {
	return func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return fill(r, "Elicitation completed:", elicitation(message, form))
	}
}

func fill(r mcp.CallToolRequest, words string, question mcp.ElicitationParams) (*mcp.CallToolResult, error) {
	said := server.ElicitationResponse(r.Params.InputResponses, "answer")
	if said == nil {
		return ask("").Elicit("answer", question).ToolResult(), nil
	}
	content, err := json.Marshal(said.Content)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s action=%s, content=%s", words, said.Action, content)), nil
}

// needing refuses clients that did not say that they have a model.
func needing(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := wire.From(ctx)
	if x.Capabilities().Sampling == nil {
		x.Fail(&wire.Error{
			Code:    mcp.MISSING_REQUIRED_CLIENT_CAPABILITY,
			Message: "this tool needs a client that offers sampling",
			Data:    map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}},
		})
	}
	return mcp.NewToolResultText("The client offers sampling."), nil
}

func ask(state string) *server.InputRequestBuilder { return server.NewInputRequestBuilder(state) }

func elicitation(message string, form json.RawMessage) mcp.ElicitationParams {
	return mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: message, RequestedSchema: form}
}

func prompt(words string, tokens int) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{MaxTokens: tokens, Messages: []mcp.SamplingMessage{
		{Role: mcp.RoleUser, Content: mcp.NewTextContent(words)}}}
}

// properties is the schema of a form with the fields.
func properties(fields string, required ...string) json.RawMessage {
	schema := `{"type": "object", "properties": {` + fields + `}`
	if len(required) > 0 {
		names, _ := json.Marshal(required)
		schema += `, "required": ` + string(names)
	}
	return json.RawMessage(schema + `}`)
}
