package conformance

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func addPrompts(s *server.MCPServer) {
	s.AddPrompt(mcp.NewPrompt("test_simple_prompt", mcp.WithPromptDescription("Says always the same.")),
		saying("This is a simple prompt for testing."))
	s.AddPrompt(mcp.NewPrompt("test_prompt_with_arguments", mcp.WithPromptDescription("Says its arguments."),
		mcp.WithArgument("arg1", mcp.RequiredArgument(), mcp.ArgumentDescription("The first argument.")),
		mcp.WithArgument("arg2", mcp.RequiredArgument(), mcp.ArgumentDescription("The second argument."))), arguing)
	s.AddPrompt(mcp.NewPrompt("test_prompt_with_embedded_resource", mcp.WithPromptDescription("Has a resource in it."),
		mcp.WithArgument("resourceUri", mcp.RequiredArgument(), mcp.ArgumentDescription("The resource."))), embedding)
	s.AddPrompt(mcp.NewPrompt("test_prompt_with_image", mcp.WithPromptDescription("Has an image in it.")),
		func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return user(mcp.NewImageContent(pixel, "image/png"),
				mcp.NewTextContent("Please analyze the image above.")), nil
		})
	s.AddPrompt(mcp.NewPrompt("test_input_required_result_prompt",
		mcp.WithPromptDescription("Asks for what it says.")), inquiring)
}

func saying(words string) server.PromptHandlerFunc {
	return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return user(mcp.NewTextContent(words)), nil
	}
}

func arguing(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return user(mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'",
		r.Params.Arguments["arg1"], r.Params.Arguments["arg2"]))), nil
}

func embedding(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return user(embedded(r.Params.Arguments["resourceUri"], "Embedded resource content for testing."),
		mcp.NewTextContent("Please process the embedded resource above.")), nil
}

func inquiring(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	said := server.ElicitationResponse(r.Params.InputResponses, "user_context")
	if said == nil {
		return ask("").Elicit("user_context", elicitation("What context should the prompt use?",
			properties(`"context": {"type": "string"}`, "context"))).PromptResult(), nil
	}
	return user(mcp.NewTextContent("Mind this: " + field(said.Content, "context"))), nil
}

// user is a prompt of the parts, each a message of the user.
func user(parts ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{}
	for _, part := range parts {
		r.Messages = append(r.Messages, mcp.NewPromptMessage(mcp.RoleUser, part))
	}
	return r
}
