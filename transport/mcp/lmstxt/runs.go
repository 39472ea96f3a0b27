package lmstxt

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
)

// searched is the most runs that are looked at for those of a repository.
const searched = 200

// run returns the State of a run of the caller's that makes llms.txt files.
func (d *door) run(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := d.Run(ctx, id)
	if err == nil && state.Queued.Job != generateJob {
		err = messages.Errorf(messages.CodeNotFound, "run %s is one of %s and has no llms.txt", id, state.Queued.Job)
	}
	return state, err
}

// runsOf are the caller's runs for the repository into the folder, a local one, the last updated first.
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
			if err != nil { // its log has been ended since
				continue
			}
			if in := inputOf(state); in.Out == out && isOf(in) && !yield(state, nil) {
				return
			}
		}
	}
}

// isOf returns what tells whether inputs of runs are of the repository that a caller names.
func (d *door) isOf(repository string) func(input) bool {
	named := d.named(repository)
	return func(in input) bool { return in.Repository == named || isSame(in.Repository, repository) }
}

// madeFor is the last run that was made for the one, or together with it for another, and wrote the file or still
// may; itself if there is none.
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
