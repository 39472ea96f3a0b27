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

// Reader yields the events that follow asks for. state returns the State of the run: after the terminal the one with that,
// even if the journal has not answered yet. It does not check the caller.
func (r Runs) Reader(ctx context.Context, id messages.RunID, follow messages.FollowOptions) (
	events iter.Seq2[messages.Event, error], state func() (messages.State, error),
) {
	var last *messages.State
	follow.Ended = func(state messages.State) { last = &state }
	return messages.Each(r.Door.Runs.Follow(ctx, id, follow)), func() (messages.State, error) {
		if last != nil {
			return *last, nil
		}
		return r.State(ctx, id)
	}
}

// Until waits until the run has ended or until accepts an event, and returns the State from then. until may be nil.
func (r Runs) Until(ctx context.Context, state messages.State, until func(messages.Event) bool) (messages.State, error) {
	if state.Status.IsEnded() {
		return state, nil
	}
	events, now := r.Reader(ctx, state.RunID, messages.FollowOptions{After: state.Seq})
	for e, err := range events {
		if err != nil {
			return state, err
		}
		if e.IsTerminal() || until != nil && until(e) {
			break
		}
	}
	return now()
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
