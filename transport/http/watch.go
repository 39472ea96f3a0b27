package http

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// watchEvery is the minimum time between two messages about changes in the client's list of runs.
const watchEvery = 200 * time.Millisecond

// mostChanged is the maximum number of runs in one message. More changes are told as one change of the whole list.
const mostChanged = 500

// changes collects the runs that have changed since the client was told. It is safe for concurrent use.
type changes struct {
	mu   sync.Mutex
	wake chan struct{} // has a token when there are changes
	runs map[messages.RunID]bool
	all  bool
}

// note records that a run has changed; "" stands for any run.
func (c *changes) note(run messages.RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run == "" || len(c.runs) == mostChanged && !c.runs[run] {
		c.all = true
		clear(c.runs)
	} else {
		c.runs[run] = true
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take returns and removes the changes. all reports that any run may have changed.
func (c *changes) take() (runs []messages.RunID, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for run := range c.runs {
		runs = append(runs, run)
	}
	clear(c.runs)
	all, c.all = c.all, false
	return runs, all
}

// watch tells the client which of the caller's runs are new, have another status or ask something else, until ctx is
// done. The message "list" means that any run may have changed: the client should read the list again.
func (s *subscription) watch(ctx context.Context) {
	defer s.cancel()
	c, changed := s.connection, &changes{wake: make(chan struct{}, 1), runs: map[messages.RunID]bool{}}
	defer c.Enter()()
	c.socket.Go(func() {
		if err := c.Runs.Watch(ctx, changed.note); ctx.Err() == nil {
			s.end(reply{Op: "problem", ID: s.id, Problem: auth.ProblemOf(err)})
			s.cancel()
		}
	})
	told := map[messages.RunID]messages.Summary{} // the runs that the client knows and that have not ended
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed.wake:
		}
		runs, all := changed.take()
		if all {
			clear(told)
			c.send(reply{Op: "list", ID: s.id})
		}
		if err := s.tell(ctx, runs, told); err != nil && ctx.Err() == nil {
			s.end(reply{Op: "problem", ID: s.id, Problem: auth.ProblemOf(err)})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchEvery):
		}
	}
}

// tell sends those of the runs that belong to the caller and that differ from what the client was told.
func (s *subscription) tell(ctx context.Context, runs []messages.RunID, told map[messages.RunID]messages.Summary) error {
	if len(runs) == 0 {
		return nil
	}
	c := s.connection
	list, err := c.List(ctx, messages.Query{Runs: runs, Limit: len(runs)})
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(now messages.Summary) bool {
		had, known := told[now.RunID]
		if told[now.RunID] = now; now.Status.IsEnded() {
			delete(told, now.RunID)
		}
		return known && had.Status == now.Status && had.Canceling == now.Canceling && slices.Equal(had.OpenRequests, now.OpenRequests)
	})
	if len(list) > 0 {
		c.send(reply{Op: "runs", ID: s.id, Runs: list})
	}
	return nil
}
