package actors

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
)

// Run is a handle on a run: its methods are System's with the id filled in.
type Run struct {
	system *System
	id     messages.RunID
}

// ID returns the run's id.
func (r *Run) ID() messages.RunID { return r.id }

// Events yields the events past the cursor until the terminal; see [System.Events].
func (r *Run) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.system.Events(ctx, r.id, after)
}

// State returns what the run's log adds up to now.
func (r *Run) State(ctx context.Context) (messages.State, error) { return r.system.State(ctx, r.id) }

// Wait returns the run's final State once it has ended. Its error is about the waiting; how the run ended is in the
// State.
func (r *Run) Wait(ctx context.Context) (messages.State, error) {
	return r.system.wait(ctx, r.id)
}

// Cancel asks the run to end; see [System.Cancel].
func (r *Run) Cancel(ctx context.Context, reason string) error {
	return r.system.Cancel(ctx, r.id, "", reason)
}
