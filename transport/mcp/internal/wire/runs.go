package wire

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
)

// Runs gives MCP handlers access to runs. The methods of [door.Door] check scopes and ownership; the methods of Runs do not.
type Runs struct{ *door.Door }

// State returns the State of a run. It does not check the caller.
func (r Runs) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	return r.Door.Runs.State(ctx, id)
}

// Events yields the events of a run after the given number. It does not check the caller.
func (r Runs) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	return messages.Each(r.Door.Runs.Follow(ctx, id, messages.FollowOptions{After: after}))
}

// Until waits until the run has ended or until accepts an event, and returns the State from then. until may be nil.
func (r Runs) Until(ctx context.Context, state messages.State, until func(messages.Event) bool) (messages.State, error) {
	if state.Status.IsEnded() {
		return state, nil
	}
	var last *messages.State
	follow := messages.FollowOptions{After: state.Seq, Ended: func(state messages.State) { last = &state }}
	for e, err := range messages.Each(r.Door.Runs.Follow(ctx, state.RunID, follow)) {
		if err != nil {
			return state, err
		}
		if e.IsTerminal() && last != nil {
			return *last, nil
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
