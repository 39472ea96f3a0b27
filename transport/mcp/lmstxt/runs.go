package lmstxt

import (
	"context"
	"iter"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// searched is the maximum number of runs that are searched for those of a repository.
const searched = 200

// run returns the State of the caller's run, which must be a run of generate.
func (d *door) run(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := d.Run(ctx, id)
	if err == nil && state.Queued.Job != generateJob {
		err = messages.Errorf(messages.CodeNotFound, "run %s is one of %s and has no llms.txt", id, state.Queued.Job)
	}
	return state, err
}

// runsOf yields the caller's runs for the repository into the folder out, the last updated first.
func (d *door) runsOf(ctx context.Context, repository, out string) iter.Seq2[messages.State, error] {
	return func(yield func(messages.State, error) bool) {
		list, err := d.Runs(ctx, messages.Query{Job: generateJob, Limit: searched})
		if err != nil {
			yield(messages.State{}, err)
			return
		}
		isOf := d.isOf(repository)
		for _, run := range list {
			state, err := d.Run(ctx, run.RunID)
			if err != nil { // the run was removed in the meantime
				continue
			}
			if in := inputOf(state); in.Out == out && isOf(in) && !yield(state, nil) {
				return
			}
		}
	}
}

// isOf returns a function that reports whether the input of a run is for the repository.
func (d *door) isOf(repository string) func(input) bool {
	named, meanings := d.named(repository), spellings(repository)
	return func(in input) bool {
		return in.Repository == named || slices.ContainsFunc(spellings(in.Repository), func(s spelling) bool {
			return slices.ContainsFunc(meanings, func(m spelling) bool { return m.key() == s.key() })
		})
	}
}

// madeFor returns the last run that has written the file, or may still do so, of those that were made for the given run
// or for the same earlier run. If there is none, it returns the run itself.
func (d *door) madeFor(ctx context.Context, state messages.State, name string) (messages.State, error) {
	first := firstOf(state)
	list, err := d.Runs(ctx, messages.Query{Job: generateJob, Limit: searched})
	for _, run := range list {
		if run.RunID != first && messages.RunID(run.Labels[earlierLabel]) != first {
			continue
		}
		if later, err := d.Run(ctx, run.RunID); err == nil && (!later.Status.IsEnded() || has(later, name)) {
			return later, nil
		}
	}
	return state, err
}
