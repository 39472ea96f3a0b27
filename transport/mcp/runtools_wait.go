package mcp

import (
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/cursor"
)

type eventsArguments struct {
	RunID  messages.RunID  `json:"run_id"`
	After  json.RawMessage `json:"after"`
	Deltas bool            `json:"deltas"`
	Max    int             `json:"max"`
	Wait   int             `json:"wait_ms"`
}

func (s *Server) runEvents(ctx context.Context, a eventsArguments) (*Result, error) {
	state, err := s.Run(ctx, a.RunID)
	if err != nil {
		return nil, err
	}
	p, err := newPage(state, a.After)
	if err != nil {
		return nil, err
	}
	p.Next.all = p.Next.all && a.Deltas
	if p.most, p.deltas = a.Max, a.Deltas; a.Max > 0 {
		p.room = longPageBytes
	}
	if err := s.readPage(ctx, &p, state, milliseconds(a.Wait)); err != nil {
		return nil, err
	}
	return Structured(p)
}

type waitArguments struct {
	RunID messages.RunID `json:"run_id"`
	Wait  *int           `json:"wait_ms"`
}

const defaultWait = 50_000 // milliseconds

func (s *Server) runWait(ctx context.Context, a waitArguments) (*Result, error) {
	state, err := s.Run(ctx, a.RunID)
	if err != nil {
		return nil, err
	}
	wait := defaultWait
	if a.Wait != nil {
		wait = *a.Wait
	}
	return s.waitFor(ctx, a.RunID, cursor.At(state), wait)
}

// waitFor streams the run past the cursor, and says where it stands at its end or when the milliseconds are over.
func (s *Server) waitFor(ctx context.Context, id messages.RunID, at cursor.Cursor, wait int) (*Result, error) {
	within, stop := context.WithTimeout(ctx, milliseconds(wait))
	defer stop()
	state, terminal, err := s.follow(within, streamWait, id, at)
	if err != nil && within.Err() != nil && ctx.Err() == nil { // the time is over
		state, err = s.Run(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return s.streamed(ctx, state, terminal), nil
}

type attachArguments struct {
	RunID messages.RunID  `json:"run_id"`
	After json.RawMessage `json:"after"`
}

func (s *Server) runAttach(ctx context.Context, a attachArguments) (*Result, error) {
	state, err := s.Run(ctx, a.RunID)
	if err != nil {
		return nil, err
	}
	after, err := parsePageCursor(a.RunID, a.After)
	if err == nil {
		err = checkCursor(state, after.Seq)
	}
	if err != nil {
		return nil, err
	}
	return s.attach(ctx, a.RunID, after.Cursor)
}

func (s *Server) attach(ctx context.Context, id messages.RunID, at cursor.Cursor) (*Result, error) {
	state, terminal, err := s.follow(ctx, streamAttach, id, at)
	if err != nil {
		return nil, err
	}
	return s.streamed(ctx, state, terminal), nil
}

// sessionContext is done when the session has ended, however long the call lasts in which it was made.
type sessionContext struct {
	context.Context
	done <-chan struct{}
}

func (c sessionContext) Done() <-chan struct{} { return c.done }

func (c sessionContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}
