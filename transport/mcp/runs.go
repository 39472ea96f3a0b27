package mcp

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
)

// Run returns the State of the run of whoever calls in the context. Errors: not_found, for the runs of others too.
func (s *Server) Run(ctx context.Context, id messages.RunID) (messages.State, error) {
	return s.runs.Own(ctx, id)
}

// Runs lists runs of whoever calls in the context, whatever the query says of principals.
func (s *Server) Runs(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.runs.List(ctx, q)
}

// Events are those of the run of whoever calls in the context, as the runtime gives them.
func (s *Server) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	if _, err := s.Run(ctx, id); err != nil {
		return func(yield func(messages.Event, error) bool) { yield(messages.Event{}, err) }
	}
	return s.runs.Events(ctx, id, after)
}
