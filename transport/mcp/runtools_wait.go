package mcp

import (
	"context"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/cursor"
)

// wait returns how long a call should wait. missing is the default in milliseconds.
func (a runArguments) wait(missing int) time.Duration {
	if a.Wait != nil {
		missing = *a.Wait
	}
	return time.Duration(missing) * time.Millisecond
}

// runEvents returns a page of events. It waits for the first one if the caller wants to.
func (s *Server) runEvents(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	p, err := newPage(state, a.After)
	if err != nil {
		return nil, err
	}
	p.Next.all = p.Next.all && a.Deltas
	if p.most, p.deltas = a.Max, a.Deltas; a.Max > 0 {
		p.room = longPageBytes
	}
	if err := s.readPage(ctx, &p, state, a.wait(0)); err != nil {
		return nil, err
	}
	return Structured(p)
}

const defaultWait = 50_000 // milliseconds

func (s *Server) runWait(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	return s.waitFor(ctx, a.RunID, cursor.At(state), a.wait(defaultWait))
}

// waitFor streams the run from the cursor on. It returns the run's state at its end or when the time is over.
func (s *Server) waitFor(ctx context.Context, id messages.RunID, at cursor.Cursor, wait time.Duration) (*Result, error) {
	within, stop := context.WithTimeout(ctx, wait)
	defer stop()
	state, terminal, err := s.follow(within, streamWait, id, at)
	if err != nil && within.Err() != nil && ctx.Err() == nil { // the time is over, but the client still waits
		state, err = s.Run(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return s.streamed(ctx, state, terminal), nil
}

// runAttach streams a run from a cursor to its end.
func (s *Server) runAttach(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
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
