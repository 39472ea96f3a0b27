package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// State returns the sum of the run's events so far. Errors: not_found.
func (s *System) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	r := s.runs.active(id)
	if r == nil || r.log.Dropped() != nil {
		return s.readers.archive.State(ctx, id)
	}
	live := r.log.State()
	if live.Seq > 0 && (live.Status.IsEnded() || !r.log.HasTerminal()) {
		return live, nil
	}
	archived, err := s.readers.archive.State(ctx, id) // a reader may have seen the terminal there before the journal answered
	if archived.Seq < live.Seq {
		return live, nil
	}
	return archived, err
}

// Blocks yields the run's log as the journal keeps it, for a [journal.Audit]. Errors: not_found.
func (s *System) Blocks(ctx context.Context, id messages.RunID) iter.Seq2[journal.StoredBlock, error] {
	return s.journal.Blocks(ctx, id)
}

// List returns the runs in the journal that the query selects: active runs, and ended runs until Config.Retention has
// passed. They are in the order of [messages.Query.Compare], at most [messages.Query.Most].
func (s *System) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.journal.List(ctx, q)
}

// Watch calls fn, in the caller's goroutine, for runs whose log has grown on any node, until ctx is done. The first
// call has an empty id: from then on nothing is missed. A later empty id says that any run may have changed. fn may
// be called more often than needed; List tells what is there.
func (s *System) Watch(ctx context.Context, fn func(messages.RunID)) error {
	return s.journal.Watch(ctx, "", func(n journal.Note) {
		if n.Command == nil {
			fn(n.Run)
		}
	})
}

// DeleteLog removes the log of an ended run before its retention time. Files that the run wrote stay. Errors:
// not_found, conflict for a run that has not ended.
func (s *System) DeleteLog(ctx context.Context, id messages.RunID) error {
	err := s.journal.DeleteLog(ctx, id)
	if r := s.runs.active(id); err == nil && r != nil { // its terminal is durable, but nobody has released the run yet
		s.owner.released(r)
	}
	return err
}

// Forget is DeleteLog.
//
// Deprecated: Use [System.DeleteLog].
func (s *System) Forget(ctx context.Context, id messages.RunID) error { return s.DeleteLog(ctx, id) }

// Run is a handle on a run. Its methods are the methods of [System], without the id. It is safe for concurrent use.
type Run struct {
	system *System
	id     messages.RunID
	live   *activeRun // of a sub-run, so that Wait needs no journal however soon it ends
}

// ID returns the run's id.
func (r *Run) ID() messages.RunID { return r.id }

// Events yields the events past the cursor until the terminal; see [System.Events].
func (r *Run) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.system.Events(ctx, r.id, after)
}

// State returns the sum of the run's events so far.
func (r *Run) State(ctx context.Context) (messages.State, error) { return r.system.State(ctx, r.id) }

// Wait returns the run's final State once the run has ended. The error is about waiting; the State tells how the run
// ended.
func (r *Run) Wait(ctx context.Context) (messages.State, error) {
	return r.system.readers.wait(ctx, r.id, r.live)
}

// Result waits for the run's end and returns its result as JSON. If the run did not complete, the error names the run
// and why. Its code is the cause in the run's terminal, and no policy repeats it.
func (r *Run) Result(ctx context.Context) (json.RawMessage, error) {
	state, err := r.Wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case state.Status == messages.Completed:
		return state.End.Result, nil
	}
	why := cmp.Or(state.End.Error, errCanceled)
	what := "run"
	if state.Queued.Parent != "" {
		what = "sub-run"
	}
	return nil, supervision.Permanent(messages.Errorf(state.End.Cause, "the %s %s of job %s ended %s (%s): %s",
		what, r.id, state.Queued.Job, state.Status, state.End.Cause, why.Message))
}

// readers is the part of a System that reads logs, whoever owns them. It wakes the readers of runs that this node does
// not own: one watch of the journal serves all of them. It is safe for concurrent use.
type readers struct {
	*System // whose part it is
	archive *journal.Archive

	mu     sync.Mutex
	wakers map[messages.RunID][]log.Wake
}

func (w *readers) listen(id messages.RunID, wake log.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakers[id] = append(w.wakers[id], wake)
}

func (w *readers) unlisten(id messages.RunID, wake log.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakers[id] = slices.DeleteFunc(w.wakers[id], func(b log.Wake) bool { return b == wake })
	if len(w.wakers[id]) == 0 {
		delete(w.wakers, id)
	}
}

// notify wakes the readers of the run, or all readers if id is "".
func (w *readers) notify(id messages.RunID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wakers := w.wakers[id]
	if id == "" {
		for _, all := range w.wakers {
			wakers = append(wakers, all...)
		}
	}
	for _, wake := range wakers {
		wake.Notify()
	}
}

// wait returns the run's final State. r is the run as this node had it, or nil.
func (w *readers) wait(ctx context.Context, id messages.RunID, r *activeRun) (messages.State, error) {
	for ; ; r = nil {
		if r == nil {
			r = w.runs.active(id)
		}
		if r == nil {
			break
		}
		select {
		case <-r.log.AtEnd():
		case <-ctx.Done():
			return messages.State{}, context.Cause(ctx)
		}
		if final := r.log.Final(); final != nil {
			return *final, nil
		}
		if trouble := r.log.Trouble(); trouble != nil && r.log.Dropped() == nil {
			return r.log.State(), trouble
		}
		if r.log.Dropped() != nil {
			break
		}
	}
	if ctx.Err() != nil { // Follow would return what there is
		return messages.State{}, context.Cause(ctx)
	}
	var err error
	for _, err = range w.Follow(ctx, id, messages.FollowOptions{Filter: messages.Filter{MilestonesOnly: true}}) {
	}
	if err != nil {
		return messages.State{}, err
	}
	return w.archive.State(ctx, id) // the live log may lag behind the journal, where the reader has seen the terminal
}

// foldLog reads and folds the run's whole log.
func (w *readers) foldLog(ctx context.Context, id messages.RunID) (*messages.Fold, journal.Head, error) {
	fold := &messages.Fold{}
	for {
		page, err := w.readWithTimeout(ctx, id, fold.Peek().Seq)
		if err != nil {
			return nil, journal.Head{}, err
		}
		for _, e := range page.Events {
			if err := fold.Apply(e); err != nil {
				return nil, journal.Head{}, err
			}
		}
		if fold.Peek().Seq >= page.Head.Seq && page.Head.Seq > 0 {
			return fold, page.Head, nil
		}
		if len(page.Events) == 0 {
			return nil, journal.Head{}, messages.Errorf(messages.CodeUnavailable, "the log ends at %d before its head %d",
				fold.Peek().Seq, page.Head.Seq)
		}
	}
}

// readWithTimeout calls the journal's Read with a timeout.
func (w *readers) readWithTimeout(ctx context.Context, id messages.RunID, after uint64) (journal.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, log.ReadTimeout)
	defer cancel()
	return w.journal.Read(ctx, id, after)
}

// watch handles the journal's notes: commands for this node, and wake-ups for readers.
func (w *readers) watch(ctx context.Context) error {
	return w.journal.Watch(ctx, w.writer, func(n journal.Note) {
		if n.Command != nil {
			w.applyCommand(*n.Command)
			return
		}
		w.notify(n.Run)
	})
}
