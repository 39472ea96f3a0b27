package http

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// watchEvery is the minimum time between two messages about changes in the client's list of runs.
const watchEvery = 200 * time.Millisecond

// silentEvery is how much older the last event of a run may be for a client that watches the list.
const silentEvery = 10 * time.Second

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
	runs = slices.Collect(maps.Keys(c.runs))
	clear(c.runs)
	all, c.all = c.all, false
	return runs, all
}

// watch tells the client which of the caller's runs are new, have another status, ask something else or have spent more,
// until ctx is done. The message "list" means that any run may have changed: the client should read the list again.
func (s *subscription) watch(ctx context.Context) {
	defer s.cancel()
	c := s.connection
	err := c.watchList(ctx, nil, messages.Query{}, func(runs []messages.Summary) error {
		op := "runs"
		if runs == nil {
			op = "list"
		}
		c.send(reply{Op: op, ID: s.id, Runs: runs})
		return nil
	})
	if ctx.Err() == nil {
		s.end(reply{Op: "problem", ID: s.id, Problem: auth.ProblemOf(err)})
	}
}

// streamList streams the first page of the list, and then what changes in it.
func (s *Server) streamList(w http.ResponseWriter, r *http.Request, form form, q messages.Query) {
	out := &writer{Stream: s.Stream(w, string(form)), form: form}
	ctx := r.Context()
	requestOf(ctx).stream = func() {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		h := s.Heartbeats(ctx, out.Stream, out.Beat, cancel)
		defer h.Stop()
		err := s.watchList(ctx, auth.Draining(ctx), q, func(runs []messages.Summary) error {
			return h.Do(func() (over bool, err error) {
				name, list := "runs", runList{Runs: runs}
				if runs == nil {
					name = "list"
					list, err = s.page(ctx, q, "")
				}
				out.other(name, list)
				return false, err
			})
		})
		_ = h.Do(func() (bool, error) { // a client that left needs no reason
			out.other("problem", auth.ProblemOf(err))
			return true, nil
		})
	}
}

// watchList calls tell with the caller's runs that are new, have another status, ask something else or have spent more, and
// with nil if any run may have changed, which it does first. Every silentEvery it tells of a run that goes on. It returns an
// error when ctx is done, when draining is closed, or when tell fails. Of the query, only the job and the labels count.
func (s *Server) watchList(ctx context.Context, draining <-chan struct{}, q messages.Query, tell func([]messages.Summary) error) error {
	defer s.Enter()()
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	changed := &changes{wake: make(chan struct{}, 1), runs: map[messages.RunID]bool{}}
	watching.Go(func() { cancel(s.Runs.Watch(ctx, changed.note)) })
	told := map[messages.RunID]messages.Summary{} // the runs that the client knows and that have not ended
	for wake, pause := changed.wake, (<-chan time.Time)(nil); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-draining:
			return messages.Errorf(messages.CauseShutdown, "the server is stopping; ask again")
		case <-pause:
			wake, pause = changed.wake, nil
			continue
		case <-wake:
		}
		wake, pause = nil, time.After(watchEvery)
		runs, all := changed.take()
		if all {
			clear(told)
			if err := tell(nil); err != nil {
				return err
			}
		}
		list, err := s.changed(ctx, q, runs, told)
		if err == nil && len(list) > 0 {
			err = tell(list)
		}
		if err != nil {
			return err
		}
	}
}

// changed returns the runs that belong to the caller and that differ from what the client was told.
func (s *Server) changed(ctx context.Context, q messages.Query, runs []messages.RunID, told map[messages.RunID]messages.Summary) ([]messages.Summary, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	list, err := s.List(ctx, messages.Query{Runs: runs, Job: q.Job, Labels: q.Labels, Limit: len(runs)})
	return stable.DeleteFunc(list, func(now messages.Summary) bool {
		had, known := told[now.RunID]
		if known && had.Status == now.Status && had.Canceling == now.Canceling && had.Cause == now.Cause && had.Spent() == now.Spent() &&
			now.UpdatedAt.Sub(had.UpdatedAt) < silentEvery && slices.Equal(had.OpenRequests, now.OpenRequests) {
			return true
		}
		if told[now.RunID] = now; now.Status.IsEnded() {
			delete(told, now.RunID)
		}
		return false
	}), err
}
