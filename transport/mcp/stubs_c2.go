package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

type signer struct{}

func newSigner(key []byte) signer { return signer{} }

type hub struct{}

func newHub(s *Server) *hub { return &hub{} }
func (h *hub) close()       {}

// Updated tells those who subscribed to the resource that it has changed.
func (s *Server) Updated(uri string) {}

func (s *Server) methods() map[string]wire.Method { return nil }
func (s *Server) hooks() *server.Hooks            { return &server.Hooks{} }

// taskOf reports whether the call is to be answered with a task: in which dialect, and for how long it is asked for.
func (s *Server) asTask(x *wire.Exchange, t *JobTool, req mcp.CallToolRequest) (bool, *wire.Error) {
	panic("not built")
}

// replyTask answers the exchange with the run as a task, in the form of the client's protocol.
func (s *Server) replyTask(x *wire.Exchange, state messages.State) *mcp.CallToolResult {
	panic("not built")
}

// ask is what a call answers whose run waits for answers: the questions for the client, with the signed state that finds
// the run again; for a client that cannot ask its user, what to do instead.
func (s *Server) ask(ctx context.Context, req mcp.CallToolRequest, state messages.State) *mcp.CallToolResult {
	panic("not built")
}

// resume finds the run that a retried call goes on with, and gives it the answers. ok is false for a call that is new.
func (s *Server) resume(ctx context.Context, req mcp.CallToolRequest) (id messages.RunID, after uint64, ok bool, err error) {
	panic("not built")
}
