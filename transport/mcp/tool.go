package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Tool describes a tool that is not a job.
type Tool struct {
	Name, Title, Description string
	// Input and Output are JSON Schemas of objects, for the arguments and the structured content. An empty Input allows
	// any arguments; an empty Output means no structured content.
	Input, Output json.RawMessage
	// The tool's effects, for clients. Callers of a tool that is not ReadOnly need the scope run:write.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Lenient drops arguments that Input does not name, and tells the caller, instead of refusing the call.
	Lenient bool
}

// AddTool adds a tool whose arguments are decoded into an A after they were checked against its input schema. If
// call fails, the caller gets its error in the form of [Failure]. Errors: invalid_input for an invalid name or schema, or a name
// that is taken.
func AddTool[A any](s *Server, t Tool, call func(ctx context.Context, arguments A) (*Result, error)) error {
	return s.addTyped(t, func() any { return new(A) }, func(ctx context.Context, arguments any) (*Result, error) {
		return call(ctx, *arguments.(*A))
	})
}

// addTyped is AddTool for arguments that are decoded into what empty returns.
func (s *Server) addTyped(t Tool, empty func() any, call func(ctx context.Context, arguments any) (*Result, error)) error {
	tool, err := t.tool()
	if err != nil {
		return err
	}
	compiled, scope := sync.OnceValues(func() (*validate.Schema, error) { return validate.Compile(t.Input) }), auth.WriteRuns
	if t.ReadOnly {
		scope = auth.ReadRuns
	}
	return s.addTool(tool, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := empty()
		var dropped []string
		raw, err := objectOf(req.Params.RawArguments), wire.Require(ctx, scope)
		if err == nil && t.Lenient {
			raw, dropped = t.known(raw)
		}
		if err == nil {
			err = readFitting(compiled, raw, arguments)
		}
		if err != nil {
			return Failure(err).library(), nil
		}
		result, err := call(ctx, arguments)
		if err != nil {
			return s.failed(ctx, t.Name, err).library(), nil
		}
		result.dropped = dropped
		return result.library(), nil
	})
}

// known returns the arguments that Input names, and the sorted names of the others.
func (t Tool) known(arguments json.RawMessage) (known json.RawMessage, dropped []string) {
	var schema struct{ Properties map[string]json.RawMessage }
	var all map[string]json.RawMessage
	_ = json.Unmarshal(t.Input, &schema) // AddTool has read it
	if json.Unmarshal(arguments, &all) != nil {
		return arguments, nil // the schema refuses it
	}
	for name := range all {
		if schema.Properties[name] == nil {
			dropped = append(dropped, name)
			delete(all, name)
		}
	}
	slices.Sort(dropped)
	known, _ = json.Marshal(all) // it was JSON
	return known, dropped
}

// readFitting decodes arguments after it has checked them against the schema.
func readFitting(compiled func() (*validate.Schema, error), arguments json.RawMessage, v any) error {
	held, err := compiled()
	if err == nil {
		arguments, err = held.Fit(arguments)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(arguments, v); err != nil {
		return messages.InvalidInput("the arguments cannot be read: %v", err)
	}
	return nil
}

// HasTool reports whether there is a tool with the name.
func (s *Server) HasTool(name string) bool { return s.mcp.GetTool(name) != nil }

// tool returns the tool as clients see it. Its schemas are compiled at the first call, because compiling all would slow
// down the start of the program.
func (t Tool) tool() (mcp.Tool, error) {
	if len(t.Input) == 0 {
		t.Input = json.RawMessage(anyObject)
	}
	err := legible(t.Name, t.Input)
	if err == nil && len(t.Output) > 0 {
		err = legible(t.Name, t.Output)
	}
	if err != nil {
		return mcp.Tool{}, err
	}
	return mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, RawInputSchema: t.Input, RawOutputSchema: t.Output,
		Annotations: mcp.ToolAnnotation{ReadOnlyHint: &t.ReadOnly, DestructiveHint: &t.Destructive,
			IdempotentHint: &t.Idempotent, OpenWorldHint: &t.OpenWorld}}, nil
}

// objectOf returns the arguments, or {} if the call has none.
func objectOf(raw json.RawMessage) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

// toolName is the pattern of tool names, of at most 128 characters, that all clients accept. A number in it would take
// more than a millisecond of each start.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// addTool registers a tool. It checks the name first, because mcp-go would replace a tool of the same name. mcp-go
// panics if a schema has invalid header annotations; addTool returns that as an error.
func (s *Server) addTool(tool mcp.Tool, handler server.ToolHandlerFunc) (err error) {
	switch {
	case len(tool.Name) > 128 || !toolName.MatchString(tool.Name):
		return messages.InvalidInput("the tool name %q is not 1 to 128 characters of A-Z a-z 0-9 _ . -", tool.Name)
	case s.mcp.GetTool(tool.Name) != nil:
		return messages.InvalidInput("there is a tool %s already", tool.Name)
	}
	defer func() {
		if r := recover(); r != nil {
			err = messages.InvalidInput("the tool %s is not valid: %v", tool.Name, r)
		}
	}()
	s.mcp.AddTool(tool, handler)
	s.listed(mcp.MethodNotificationToolsListChanged)
	return nil
}

// listed notifies connected clients that a list has changed.
func (s *Server) listed(method string) {
	s.hub.Listed(method)
	s.wire.Broadcast(method)
}

// anyObject is the JSON Schema of any arguments.
const anyObject = `{"type":"object"}`

// Object returns the JSON Schema of an object. Each property is given as `"name": {schema}`; others are not allowed.
func Object(required []string, properties ...string) json.RawMessage {
	text := []byte(`{"type":"object","additionalProperties":false`)
	if len(required) > 0 {
		names, _ := json.Marshal(required)
		text = append(append(text, `,"required":`...), names...)
	}
	text = append(text, `,"properties":{`...)
	for i, p := range properties {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, p...)
	}
	return append(text, "}}"...)
}

// legible returns an error (invalid_input) unless the schema describes an object that clients can read. The official
// TypeScript clients refuse the whole list of tools if a property's schema is true or false.
func legible(tool string, raw json.RawMessage) error {
	var s struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	err := json.Unmarshal(raw, &s)
	if err == nil && s.Type != "object" {
		err = fmt.Errorf(`its type is not "object"`)
	}
	for name, p := range s.Properties {
		if p = bytes.TrimSpace(p); len(p) > 0 && p[0] != '{' {
			err = fmt.Errorf("its property %s is %s; write {} for any value", name, p)
		}
	}
	if err != nil {
		return messages.InvalidInput("a schema of the tool %s is not valid: %v", tool, err)
	}
	return nil
}

// withResult returns the schema of a [RunResult] whose member "result" has the given schema. Definitions move to the
// root, because references begin there.
func withResult(tool string, result json.RawMessage) (json.RawMessage, error) {
	if len(result) == 0 {
		return json.RawMessage(runResultSchema), nil
	}
	var whole, part map[string]json.RawMessage
	if err := json.Unmarshal(result, &part); err != nil {
		return nil, messages.InvalidInput("the output schema of the tool %s is not valid: %v", tool, err)
	}
	var properties map[string]json.RawMessage
	_ = json.Unmarshal([]byte(runResultSchema), &whole) // it is a constant
	_ = json.Unmarshal(whole["properties"], &properties)
	id := string(part["$id"])
	if defs := part["$defs"]; defs != nil && (id == "" || id == `""`) {
		whole["$defs"] = defs
		delete(part, "$defs")
	}
	properties["result"], _ = json.Marshal(part)
	whole["properties"], _ = json.Marshal(properties)
	text, _ := json.Marshal(whole)
	if _, err := validate.Compile(text); err != nil {
		return nil, messages.InvalidInput("the output schema of the tool %s is not valid: %v", tool, err)
	}
	return text, nil
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
