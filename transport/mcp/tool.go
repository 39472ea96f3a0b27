package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/fit"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

// Tool describes a tool that is not a job.
type Tool struct {
	Name, Title, Description string
	// Input and Output are JSON Schemas of objects, for the arguments and the structured content. An empty Input allows
	// any arguments; an empty Output means no structured content.
	Input, Output json.RawMessage
	// The tool's effects, for clients. Callers of a tool that is not ReadOnly need the scope run:write.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// AddTool adds a tool whose arguments are decoded into an A after they were checked against its input schema. If
// call fails, the caller gets its error in the form of [Failure]. Errors: invalid_input for an invalid name or schema, or a name
// that is taken.
func AddTool[A any](s *Server, t Tool, call func(ctx context.Context, arguments A) (*Result, error)) error {
	tool, err := t.tool()
	if err != nil {
		return err
	}
	compiled, scope := sync.OnceValues(func() (*fit.Schema, error) { return fit.Compile(t.Input) }), auth.WriteRuns
	if t.ReadOnly {
		scope = auth.ReadRuns
	}
	return s.addTool(tool, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var arguments A
		err := caller.Require(ctx, scope)
		if err == nil {
			err = readFitting(compiled, objectOf(req.Params.RawArguments), &arguments)
		}
		if err != nil {
			return Failure(err).library(), nil
		}
		result, err := call(ctx, arguments)
		if err != nil {
			return s.failed(ctx, t.Name, err).library(), nil
		}
		return result.library(), nil
	})
}

// readFitting decodes arguments after it has checked them against the schema.
func readFitting(compiled func() (*fit.Schema, error), arguments json.RawMessage, v any) error {
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
