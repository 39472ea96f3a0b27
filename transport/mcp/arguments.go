package mcp

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
)

// objectOf returns the arguments, or {} if the call has none.
func objectOf(raw json.RawMessage) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

// toolName is the pattern of tool names that all clients accept.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// addTool registers a tool. It checks the name first, because mcp-go would replace a tool of the same name. mcp-go
// panics if a schema has invalid header annotations; addTool returns that as an error.
func (s *Server) addTool(tool mcp.Tool, handler server.ToolHandlerFunc) (err error) {
	switch {
	case !toolName.MatchString(tool.Name):
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
