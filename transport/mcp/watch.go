package mcp

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/question"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Watch tells the exchange of the context the run's events past the cursor as progress, where it has a progress
// token, until the run has ended or waits for an answer, and returns the State there. The terminal is left out: it is
// for the result. The run is not ended when ctx is. Errors: not_found, for the runs of others too.
func (s *Server) Watch(ctx context.Context, id messages.RunID, after uint64) (messages.State, error) {
	state, err := s.Run(ctx, id)
	if err == nil {
		state, _, err = s.watch(ctx, id, &messages.Cursor{Seq: after}, false)
	}
	return state, err
}

// watch also returns the terminal where it was among the events, and moves the cursor. If resumes is set, a client
// whose stream breaks goes on from there.
func (s *Server) watch(ctx context.Context, id messages.RunID, at *messages.Cursor, resumes bool) (
	messages.State, *messages.Event, error,
) {
	x := wire.From(ctx)
	place := func() string { return "" }
	if resumes && x.Resumes() {
		place = func() string { return string(append(append(at.Append(nil), ';'), id...)) }
		x.At(place())
	}
	p := newProgress(x.ProgressToken(), x.NotifyAt, s.config.Heartbeat, at.Seq)
	defer p.stop()
	waiting, err := s.waiting(ctx, id, at.Seq)
	if err != nil || waiting != nil && waiting.Seq <= at.Seq {
		return valueOf(waiting), nil, err
	}
	for e, err := range s.runs.Events(ctx, id, at.Seq) {
		switch {
		case err != nil:
			return messages.State{}, nil, err
		case e.IsTerminal():
			state, err := s.runs.State(ctx, id)
			return state, &e, err
		}
		if left, some := at.Take(e); some {
			p.event(left, place())
		}
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

// resume goes on with a call whose stream broke, at this server or at one before it.
func (s *Server) resume(ctx context.Context, x *wire.Exchange) (any, error) {
	if err := caller.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	cursor, id, _ := strings.Cut(x.Place(), ";")
	state, err := s.Run(ctx, messages.RunID(id))
	if err != nil {
		return nil, err
	}
	at, err := messages.ParseCursors(state.RunID, cursor)
	if err == nil {
		err = checkCursor(state, at[state.RunID].Seq)
	}
	if err != nil {
		return nil, err
	}
	return s.conclude(ctx, mcp.CallToolRequest{}, question.Resumed{Run: state.RunID}, at[state.RunID], state.Queued.Mode)
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
