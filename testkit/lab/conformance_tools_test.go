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

const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

// addContent adds the tools that answer always the same: one for each kind of content, an error, and two for what
// schemas may say.
func addContent(s *server.MCPServer) {
	answering(s, "test_simple_text", mcp.NewTextContent("This is a simple text response for testing."))
	answering(s, "test_image_content", mcp.NewImageContent(pixel, "image/png"))
	answering(s, "test_audio_content", mcp.NewAudioContent(silence, "audio/wav"))
	answering(s, "test_embedded_resource", embedded("test://embedded-resource", "This is an embedded resource content."))
	answering(s, "test_multiple_content_types",
		mcp.NewTextContent("Multiple content types test:"),
		mcp.NewImageContent(pixel, "image/png"),
		mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "test://mixed-content-resource",
			MIMEType: "application/json", Text: `{"test":"data","value":123}`}))
	s.AddTool(fixtureTool("test_error_handling", "Always fails."),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
		})
	addSchemas(s)
}

func addSchemas(s *server.MCPServer) {
	s.AddTool(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features",
		json.RawMessage(schema202012)), text("The arguments are as the schema wants them."))
	s.AddTool(fixtureTool("test_custom_header", "Has an argument that a header repeats.",
		mcp.WithString("region", mcp.Description("A name."), headed("Region"))), text("The header is the argument."))
}

// headed marks a property as one that the header Mcp-Param-<name> repeats.
func headed(name string) mcp.PropertyOption {
	return func(schema map[string]any) { schema["x-mcp-header"] = name }
}

const schema202012 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// tool describes a fixture. Clients are told that it changes nothing.
func fixtureTool(name, description string, options ...mcp.ToolOption) mcp.Tool {
	fixed := []mcp.ToolOption{mcp.WithDescription(description), mcp.WithReadOnlyHintAnnotation(true),
		mcp.WithDestructiveHintAnnotation(false), mcp.WithOpenWorldHintAnnotation(false)}
	return mcp.NewTool(name, append(fixed, options...)...)
}

func answering(s *server.MCPServer, name string, content ...mcp.Content) {
	s.AddTool(fixtureTool(name, "Answers always the same."),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
}

func text(words string) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(words), nil
	}
}

func embedded(uri, words string) mcp.EmbeddedResource {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: words})
}

// addAsking adds the tools that ask one thing of the client's user or of its model. To clients with sessions mcp-go
// sends the question as a request of the server.
func addAsking(s *server.MCPServer) {
	s.AddTool(fixtureTool("test_sampling", "Asks the client's model.",
		mcp.WithString("prompt", mcp.Required(), mcp.Description("What to ask."))), sampling)
	s.AddTool(fixtureTool("test_elicitation", "Asks the client's user.",
		mcp.WithString("message", mcp.Required(), mcp.Description("What to ask."))), eliciting)
	s.AddTool(fixtureTool("test_elicitation_sep1034_defaults", "Asks with a default for every kind of field."),
		filling("Please look over your particulars.", defaults()))
	s.AddTool(fixtureTool("test_elicitation_sep1330_enums", "Asks with every kind of choice."),
		filling("Please choose.", choices()))
	s.AddTool(fixtureTool("test_streaming_elicitation", "Asks the client's user, on a stream where there is one."),
		filling("What is your name?", properties(`"name": {"type": "string"}`)))
	s.AddTool(fixtureTool("test_missing_capability", "Needs a client with a model."), needing)
}

func sampling(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.SamplingResponse(r.Params.InputResponses, "answer"); said != nil {
		return mcp.NewToolResultText("LLM response: " + mcp.GetTextFromContent(said.Content)), nil
	}
	return askInput("").Sample("answer", prompt(r.GetString("prompt", ""), 100)).ToolResult(), nil
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
		return askInput("").Elicit("answer", question).ToolResult(), nil
	}
	content, err := json.Marshal(said.Content)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s action=%s, content=%s", words, said.Action, content)), nil
}

// needing refuses clients that did not say that they have a model.
func needing(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := ours.RequestOf(ctx)
	if x.Capabilities().Sampling == nil {
		x.Fail(&ours.Fault{
			Code:    mcp.MISSING_REQUIRED_CLIENT_CAPABILITY,
			Message: "this tool needs a client that offers sampling",
			Data:    map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}},
		})
	}
	return mcp.NewToolResultText("The client offers sampling."), nil
}

func askInput(state string) *server.InputRequestBuilder { return server.NewInputRequestBuilder(state) }

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

func defaults() json.RawMessage {
	return properties(`"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}`)
}

func choices() json.RawMessage {
	return properties(`"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
			{"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
			"enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"},
			{"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}`)
}

// addRounds adds the tools that ask by results of type input_required and keep nothing between two calls. Those that a
// run stands behind are jobs.
func addRounds(s *server.MCPServer) {
	s.AddTool(fixtureTool("test_input_required_result_elicitation", "Greets the client's user by name."), greeting)
	s.AddTool(fixtureTool("test_input_required_result_sampling", "Has the client's model say a capital."), capital)
	s.AddTool(fixtureTool("test_input_required_result_list_roots", "Counts the client's roots."), countingSlowly)
	s.AddTool(fixtureTool("test_input_required_result_multiple_inputs", "Asks user, model and roots at once."), everything)
	s.AddTool(fixtureTool("test_input_required_result_capabilities", "Asks for what the client offers."), offered)
}

func greeting(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.ElicitationResponse(r.Params.InputResponses, "user_name"); said != nil {
		return mcp.NewToolResultText("Hello, " + field(said.Content, "name") + "!"), nil
	}
	return askInput("").Elicit("user_name", elicitation("What is your name?", name())).ToolResult(), nil
}

func capital(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.SamplingResponse(r.Params.InputResponses, "capital_question"); said != nil {
		return mcp.NewToolResultText(mcp.GetTextFromContent(said.Content)), nil
	}
	return askInput("").Sample("capital_question", prompt("What is the capital of France?", 100)).ToolResult(), nil
}

func countingSlowly(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := server.RootsResponse(r.Params.InputResponses, "client_roots"); said != nil {
		return mcp.NewToolResultText(fmt.Sprintf("The client has these roots: %v.", said.Roots)), nil
	}
	return askInput("").Roots("client_roots").ToolResult(), nil
}

func everything(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	user := server.ElicitationResponse(r.Params.InputResponses, "user_name")
	model := server.SamplingResponse(r.Params.InputResponses, "greeting")
	roots := server.RootsResponse(r.Params.InputResponses, "client_roots")
	if user == nil || model == nil || roots == nil {
		return askInput("everything").
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
	x, b, asked := ours.RequestOf(ctx), askInput(""), false
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
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: r.Params.URI, MIMEType: "image/png", Blob: pixel}}, nil
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
			return user(mcp.NewImageContent(pixel, "image/png"), mcp.NewTextContent("Please analyze the image above.")), nil
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
