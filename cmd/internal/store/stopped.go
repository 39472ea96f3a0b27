package store

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Stopped reads the folder of a server that has stopped. It shows the runs of all callers.
type Stopped struct {
	dir     string
	journal journal.Reader
	archive *journal.Archive
	close   func() error
}

// OpenStopped opens the folder for reading.
func OpenStopped(dir string) (*Stopped, error) {
	store, close, err := read(dir)
	if err != nil {
		return nil, err
	}
	return &Stopped{dir, store, journal.NewArchive(store), close}, nil
}

// Close closes the folder.
func (s *Stopped) Close() error { return s.close() }

// List returns the runs that the query selects. There is only one page.
func (s *Stopped) List(ctx context.Context, q messages.Query, _ string) ([]messages.Summary, string, error) {
	q.Everyone = true
	list, err := s.archive.List(ctx, q)
	return list, "", err
}

// State returns the State of a run.
func (s *Stopped) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	return s.archive.State(ctx, id)
}

// Follow yields the events in the log. A run that has not ended will continue when a server opens the folder.
func (s *Stopped) Follow(ctx context.Context, id messages.RunID, want messages.Follow) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		if want.Tree {
			yield(messages.Event{}, messages.InvalidInput("--tree needs a server; leave it out, and read the sub-runs by their ids"))
			return
		}
		for after := want.After; ; {
			page, err := s.journal.Read(ctx, id, after)
			if err != nil {
				yield(messages.Event{}, err)
				return
			}
			for _, e := range page.Events {
				after = e.Seq
				if selected, any := want.Filter.Select(e); any && !yield(selected, nil) {
					return
				}
			}
			if len(page.Events) == 0 || after >= page.Head.Seq {
				return
			}
		}
	}
}

// Forget removes the log of an ended run. It opens the folder for writing.
func (s *Stopped) Forget(ctx context.Context, id messages.RunID) error {
	return forget(ctx, s.dir, id)
}
