package conformance

import (
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/transport/mcp"
)

// Register adds the fixtures to the door, before it serves. Its runtime needs Jobs.
func Register(s *mcp.Server) error {
	library := s.Library().(*server.MCPServer)
	declare(library)
	addContent(library)
	addNotifying(library)
	addAsking(library)
	addRounds(library)
	addResources(library)
	addPrompts(library)
	if err := addTriggers(s, library); err != nil {
		return err
	}
	library.AddTool(tool("test_tool_with_task", "Asks for a name, and greets in the background."), gathering(s))
	for _, t := range jobTools() {
		if err := s.AddJob(t); err != nil {
			return err
		}
	}
	return nil
}

// declare says what the product has no use for: log messages to clients, and completion.
func declare(s *server.MCPServer) {
	server.WithLogging()(s)
	server.WithCompletions()(s)
}
