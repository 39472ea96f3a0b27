package mcp

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// AddJob makes the job a tool that can be called synchronously, streamed and as a task. Errors: a name or schema that is
// no good, or a name that is taken.
func (s *Server) AddJob(t JobTool) error { panic("not built") }

// StartOptions are a caller's wishes for a run.
type StartOptions struct {
	Labels map[string]string
	// Key makes the start idempotent for the caller.
	Key  string
	Mode messages.Mode // if empty, the tool's, else detached
}

// Start starts the job of the tool for whoever calls in the context, and returns its State once it is in the journal.
func (s *Server) Start(ctx context.Context, tool string, arguments json.RawMessage, o StartOptions) (messages.State, error) {
	panic("not built")
}

// Watch tells the exchange of the context the run's events past the cursor as progress, where it has a progress token,
// until the run has ended or waits for an answer, and returns the State there. The run is not ended when ctx is.
func (s *Server) Watch(ctx context.Context, id messages.RunID, after uint64) (messages.State, error) {
	panic("not built")
}

// Result is what a tool answers for a run: its structured content is the run's RunResult.
func (s *Server) Result(state messages.State) *mcp.CallToolResult { panic("not built") }

// failure is what a tool answers where the call itself failed, with the error's code and what to do.
func failure(err error) *mcp.CallToolResult { panic("not built") }
