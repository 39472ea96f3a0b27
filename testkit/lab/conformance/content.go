package conformance

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
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
	answering(s, "test_embedded_resource",
		embedded("test://embedded-resource", "This is an embedded resource content."))
	answering(s, "test_multiple_content_types",
		mcp.NewTextContent("Multiple content types test:"),
		mcp.NewImageContent(pixel, "image/png"),
		mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "test://mixed-content-resource",
			MIMEType: "application/json", Text: `{"test":"data","value":123}`}))
	s.AddTool(tool("test_error_handling", "Always fails."),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
		})
	addSchemas(s)
}

func addSchemas(s *server.MCPServer) {
	s.AddTool(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features",
		json.RawMessage(schema202012)), text("The arguments are as the schema wants them."))
	s.AddTool(tool("test_custom_header", "Has an argument that a header repeats.",
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
func tool(name, description string, options ...mcp.ToolOption) mcp.Tool {
	fixed := []mcp.ToolOption{mcp.WithDescription(description), mcp.WithReadOnlyHintAnnotation(true),
		mcp.WithDestructiveHintAnnotation(false), mcp.WithOpenWorldHintAnnotation(false)}
	return mcp.NewTool(name, append(fixed, options...)...)
}

func answering(s *server.MCPServer, name string, content ...mcp.Content) {
	s.AddTool(tool(name, "Answers always the same."),
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
