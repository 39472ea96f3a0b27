package mcp

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
)

// Run returns the State of the caller's run. Errors: not_found, also for the runs of others.
func (s *Server) Run(ctx context.Context, id messages.RunID) (messages.State, error) {
	return s.runs.Own(ctx, id)
}

// Runs returns the runs of the caller in ctx. It ignores the query's Principal and Everyone.
func (s *Server) Runs(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.runs.List(ctx, q)
}

// Events yields the events of the caller's run after the given number. Errors: not_found, and those of the runtime.
func (s *Server) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	if _, err := s.Run(ctx, id); err != nil {
		return func(yield func(messages.Event, error) bool) { yield(messages.Event{}, err) }
	}
	return s.runs.Events(ctx, id, after)
}
