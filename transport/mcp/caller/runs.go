package caller

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Runtime is the runtime as the door needs it. An actors.System is one.
type Runtime interface {
	// Submit accepts a run; when it returns, run.queued is in the journal. ctx bounds an attached run.
	Submit(ctx context.Context, q messages.Request) (messages.RunID, error)
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error]
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	Cancel(ctx context.Context, id messages.RunID, by, reason string) error
	Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage, principal string) error
}

// Runs is a runtime whose runs belong to their principals.
type Runs struct{ Runtime }

// Own returns the State of the caller's run. Errors: not_found, for the runs of others too.
func (r Runs) Own(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := r.State(ctx, id)
	if err == nil {
		err = auth.Own(ctx, state)
	}
	if err != nil {
		return messages.State{}, err
	}
	return state, nil
}

// ListOwn lists the caller's runs, whatever the query says of principals.
func (r Runs) ListOwn(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	q.Principal = auth.From(ctx).Name
	return r.List(ctx, q)
}

// CancelOwn cancels a run in the caller's name.
func (r Runs) CancelOwn(ctx context.Context, id messages.RunID, reason string) error {
	return r.Cancel(ctx, id, auth.From(ctx).Name, reason)
}

// Follow returns the State in which the run has ended, or in which it took an event that until accepts.
func (r Runs) Follow(ctx context.Context, state messages.State, until func(messages.Event) bool) (
	messages.State, error,
) {
	if state.Status.IsEnded() {
		return state, nil
	}
	for e, err := range r.Events(ctx, state.RunID, state.Seq) {
		if err != nil {
			return state, err
		}
		if e.IsTerminal() || until != nil && until(e) {
			break
		}
	}
	return r.State(ctx, state.RunID)
}

// Questions returns the run's open questions. A run that is being canceled has none.
func Questions(state messages.State) []messages.Input {
	if state.Status.IsEnded() || state.Canceling {
		return nil
	}
	var open []messages.Input
	for _, in := range state.Inputs {
		if !in.Closed {
			open = append(open, in)
		}
	}
	return open
}
