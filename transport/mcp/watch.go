package mcp

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Watch tells the exchange of the context the run's events past the cursor as progress, where it has a progress
// token, until the run has ended or waits for an answer, and returns the State there. The terminal is left out: it is
// for the result. The run is not ended when ctx is. Errors: not_found, for the runs of others too.
func (s *Server) Watch(ctx context.Context, id messages.RunID, after uint64) (messages.State, error) {
	state, err := s.Run(ctx, id)
	if err == nil {
		state, _, err = s.watch(ctx, id, after)
	}
	return state, err
}

// watch also returns the terminal where it was among the events.
func (s *Server) watch(ctx context.Context, id messages.RunID, after uint64) (messages.State, *messages.Event, error) {
	x := wire.From(ctx)
	p := newProgress(x.ProgressToken(), x.Notify, s.config.Heartbeat, after)
	defer p.stop()
	waiting, err := s.waiting(ctx, id, after)
	if err != nil || waiting != nil && waiting.Seq <= after {
		return valueOf(waiting), nil, err
	}
	for e, err := range s.runs.Events(ctx, id, after) {
		switch {
		case err != nil:
			return messages.State{}, nil, err
		case e.IsTerminal():
			state, err := s.runs.State(ctx, id)
			return state, &e, err
		}
		p.event(e)
		if e.Kind() == messages.KindInputRequired {
			if waiting, err = s.waiting(ctx, id, e.Seq); err != nil {
				return messages.State{}, nil, err
			}
		}
		if waiting == nil || waiting.Seq > e.Seq {
			continue
		}
		// The client has all that led there. Somebody else may have answered meanwhile.
		if now, err := s.waiting(ctx, id, e.Seq); now != nil || err != nil {
			return *waiting, nil, err
		}
		waiting = nil
	}
	state, err := s.runs.State(ctx, id)
	return state, nil, err
}

// waiting returns the State of a run that waits for an answer; nil for one that does not, or that is only begun.
func (s *Server) waiting(ctx context.Context, id messages.RunID, after uint64) (*messages.State, error) {
	if after == 0 {
		return nil, nil
	}
	state, err := s.runs.State(ctx, id)
	if err != nil || len(caller.Questions(state)) == 0 {
		return nil, err
	}
	return &state, nil
}

func valueOf(state *messages.State) messages.State {
	if state == nil {
		return messages.State{}
	}
	return *state
}
