package mcp

import (
	"context"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// streams are the chunk streams that are being told. One tells the result of a run that may be over, so that it has to
// be ended beside the run.
type streams struct {
	mu   sync.Mutex
	open map[messages.RunID]context.CancelCauseFunc
}

// add has cancel called when the run of the stream is canceled, until the returned function is.
func (s *streams) add(id messages.RunID, cancel context.CancelCauseFunc) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[messages.RunID]context.CancelCauseFunc{}
	}
	s.open[id] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, id)
	}
}

func (s *streams) cancel(id messages.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.open[id]; cancel != nil {
		cancel(errStreamCanceled)
	}
}

// streamedRuns are the runtime's runs, whose cancel ends what is still being told of them.
type streamedRuns struct {
	Runs
	streams *streams
}

func (r streamedRuns) Cancel(ctx context.Context, id messages.RunID, by, reason string) error {
	err := r.Runs.Cancel(ctx, id, by, reason)
	if err == nil {
		r.streams.cancel(id)
	}
	return err
}
