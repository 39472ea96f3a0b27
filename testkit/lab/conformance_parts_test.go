package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	ours "github.com/seed889630bf/lastword/transport/mcp"
)

const step = 50 * time.Millisecond

// addNotifying adds the tools that say something before their result.
func addNotifying(s *server.MCPServer) {
	s.AddTool(fixtureTool("test_tool_with_logging", "Sends three log messages while it works."),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return logging(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")
		})
	s.AddTool(fixtureTool("test_logging_tool", "Sends a log message where the request asks for them."),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return logging(ctx, "Tool execution started")
		})
	s.AddTool(fixtureTool("test_tool_with_progress", "Says how far it is: 0, 50 and 100 of 100."), progressing)
}

func logging(ctx context.Context, lines ...string) (*mcp.CallToolResult, error) {
	for i, line := range lines {
		if err := wait(ctx, i); err != nil {
			return nil, err
		}
		if err := log(ours.RequestOf(ctx), line); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("The work is done."), nil
}

// log sends the line at level info. From 2026-07-28 on, clients ask for log messages request by request.
func log(x *ours.Request, line string) error {
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
		if err := progress(ours.RequestOf(ctx), done); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("The work is done."), nil
}

func progress(x *ours.Request, done int) error {
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

func asksForLogs(x *ours.Request) bool {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	return json.Unmarshal(x.Params(), &params) == nil && params.Meta[mcp.MetaKeyLogLevel] != nil
}

func addResources(s *server.MCPServer) {
	written(s, "test://static-text", "static-text", "This is the content of the static text resource.")
	written(s, "test://watched-resource", "watched-resource", "This is watched.")
	s.AddResource(mcp.NewResource("test://static-binary", "static-binary",
		mcp.WithResourceDescription("A picture of one point."), mcp.WithMIMEType("image/png")),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{
				mcp.BlobResourceContents{URI: r.Params.URI, MIMEType: "image/png", Blob: pixel}}, nil
		})
	s.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template",
		mcp.WithTemplateDescription("Says its id."), mcp.WithTemplateMIMEType("application/json")), filled)
}

func written(s *server.MCPServer, uri, name, words string) {
	s.AddResource(mcp.NewResource(uri, name, mcp.WithResourceDescription("A text."), mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: words}}, nil
		})
}

func filled(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.Params.URI, "test://template/"), "/")
	words, err := json.Marshal(struct {
		ID   string `json:"id"`
		Test bool   `json:"templateTest"`
		Data string `json:"data"`
	}{id, true, "Data for ID: " + id})
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{
		mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: string(words)}}, nil
}

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
		return askInput("").Elicit("user_context", elicitation("What context should the prompt use?",
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
