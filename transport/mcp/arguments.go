package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/schema"
)

// readArguments reads the arguments of a tool call into v. An argument that v has no field for, or of another type,
// is an invalid_input error that names it.
func readArguments(req mcp.CallToolRequest, v any) error {
	d := json.NewDecoder(bytes.NewReader(rawArguments(req)))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return messages.InvalidInput("the argument %s cannot be a JSON %s", wrong.Field, wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return messages.InvalidInput("there is no argument %s; leave it out, or see the tool's input schema", name)
	}
	return messages.InvalidInput("the arguments cannot be read: %v", err)
}

// rawArguments returns the arguments as they came, an empty object where none did.
func rawArguments(req mcp.CallToolRequest) json.RawMessage {
	raw := req.Params.RawArguments
	if len(raw) == 0 && req.Params.Arguments != nil {
		raw, _ = json.Marshal(req.Params.Arguments)
	}
	return objectOf(raw)
}

func objectOf(raw json.RawMessage) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

// addTool adds the tool. mcp-go replaces one of the same name, and panics where a schema annotates headers that
// cannot be.
func (s *Server) addTool(tool mcp.Tool, handler server.ToolHandlerFunc) (err error) {
	switch {
	case !isToolName(tool.Name):
		return messages.InvalidInput("the tool name %q is not 1 to 128 characters of A-Z a-z 0-9 _ . -", tool.Name)
	case s.mcp.GetTool(tool.Name) != nil:
		return messages.InvalidInput("there is a tool %s already", tool.Name)
	}
	defer func() {
		if r := recover(); r != nil {
			err = messages.InvalidInput("the tool %s is no good: %v", tool.Name, r)
		}
	}()
	s.mcp.AddTool(tool, handler)
	s.listed(mcp.MethodNotificationToolsListChanged)
	return nil
}

// listed notifies clients that a list has changed, if they are connected already.
func (s *Server) listed(method string) {
	s.hub.Listed(method)
	s.wire.Broadcast(method)
}

// validated holds the arguments of every tool to its input schema. Those of jobs are held to it when a run is
// started, by whatever tool. An argument that is null is passed on: for readArguments it is none.
func (s *Server) validated(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if s.jobs[req.Params.Name] != nil {
			return next(ctx, req)
		}
		if held := s.schemaOf(req.Params.Name); held != nil {
			fitting, err := held.Fit(rawArguments(req))
			if err != nil {
				return Failure(err).library(), nil
			}
			req.Params.RawArguments = fitting
		}
		return next(ctx, req)
	}
}

// schemaOf returns what the arguments of a tool that is no job are held to; nil where its schema cannot be read.
func (s *Server) schemaOf(tool string) *schema.Schema {
	if known, ok := s.schemas.Load(tool); ok {
		return known.(*schema.Schema)
	}
	t := s.mcp.GetTool(tool)
	if t == nil {
		return nil
	}
	raw := t.Tool.RawInputSchema
	if raw == nil {
		raw, _ = json.Marshal(t.Tool.InputSchema)
	}
	held, err := schema.Compile(raw)
	if err != nil {
		s.config.Log.Warn("the arguments of a tool are not held to its input schema, which cannot be read",
			zap.String("tool", tool), zap.Error(err))
	}
	s.schemas.Store(tool, held)
	return held
}
