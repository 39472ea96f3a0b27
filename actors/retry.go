package actors

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// retried is what the runs that this one retries have left of its task's steps.
type retried struct {
	first messages.RunID            // the run that all of them retry; without one, the run itself
	kept  []messages.StepKept       // in the order in which they were kept
	again map[string]messages.RunID // the run that wanted a kept step once more
}

// StepKey returns a key for the effect of a step. It is the same in every attempt, and in every run that retries this
// one. A retry from a step has other keys for that step and those kept after it.
func (t *TaskContext) StepKey(ctx context.Context, step string) (string, error) {
	r, err := t.retried(ctx)
	if err != nil {
		return "", err
	}
	return string(cmp.Or(r.again[step], r.first)) + "/" + step, nil
}

// retriedStep returns what the runs that this one retries have left of the step.
func (t *TaskContext) retriedStep(ctx context.Context, step string) (messages.StepKept, error) {
	r, err := t.retried(ctx)
	if err != nil {
		return messages.StepKept{}, err
	}
	if i := r.find(step); i >= 0 {
		return r.kept[i], nil
	}
	return messages.StepKept{}, nil
}

// retried reads the runs that this one retries, once in an attempt. Its errors are permanent, except the journal's.
func (t *TaskContext) retried(ctx context.Context) (*retried, error) {
	a := t.attempt
	a.mu.Lock()
	r := a.earlier
	a.mu.Unlock()
	if r != nil {
		return r, nil
	}
	own := a.run.log.State()
	r = &retried{first: own.RunID, again: map[string]messages.RunID{}}
	if of := messages.RunID(own.Queued.Labels[messages.RetryLabel]); of != "" && a.run.system.config.Recorded == nil {
		r.first = of
		if err := t.readRetried(ctx, r, &own); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	a.earlier = r
	a.mu.Unlock()
	return r, nil
}

// findInherited reads what an attempt could inherit that has asked for no step, so that the run tells what it leaves.
func (a *attempt) findInherited(ctx context.Context) {
	if a.inherits {
		_, _ = (&TaskContext{attempt: a}).retried(ctx) // a run that was removed leaves nothing
	}
}

// readRetried reads the first run and its retries before this one, in the order in which they were started.
func (t *TaskContext) readRetried(ctx context.Context, r *retried, own *messages.State) error {
	s := t.attempt.run.system
	list, err := s.List(ctx, messages.Query{Principal: own.Queued.Principal, Job: own.Queued.Job, ByQueued: true, Limit: 1000,
		Labels: map[string]string{messages.RetryLabel: string(r.first)}})
	if err != nil {
		return err
	}
	ids := []messages.RunID{r.first}
	for _, other := range slices.Backward(list) {
		if other.QueuedAt.Before(own.QueuedAt) {
			ids = append(ids, other.RunID)
		}
	}
	for _, id := range ids {
		state, err := s.State(ctx, id)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound || err == nil && (state.Queued.Principal != own.Queued.Principal || state.Queued.Job != own.Queued.Job):
			return supervision.Permanent(messages.Errorf(messages.CodeNotFound,
				"run %s, which this one retries, is no run of this job, or was removed with its kept steps: start the job anew", id))
		case err != nil:
			return err
		case !state.Status.IsEnded():
			return supervision.Permanent(messages.Errorf(messages.CodeConflict,
				"run %s, which this one retries, has not ended: cancel it, or wait for its end", id))
		}
		for _, k := range state.Kept {
			if t.attempt.run.job.find(k.Task) < 0 {
				return supervision.Permanent(messages.Errorf(messages.CauseInvalidOutput,
					"run %s, which this one retries, has kept steps of the task %s, which its job no longer has: start the job anew", id, k.Task))
			}
		}
		r.repeat(&state)
		r.take(&state, t.Name())
	}
	from := own.Queued.Labels[messages.RetryFromLabel]
	if r.repeat(own); from != "" && r.again[from] != own.RunID {
		return supervision.Permanent(messages.InvalidInput("no run that this one retries has kept the step %q: name one of runs get RUN", from))
	}
	return nil
}

func (r *retried) find(step string) int {
	return slices.IndexFunc(r.kept, func(k messages.StepKept) bool { return k.Step == step })
}

// repeat drops the step from which a run retries, and those that were kept after it.
func (r *retried) repeat(s *messages.State) {
	i := r.find(s.Queued.Labels[messages.RetryFromLabel])
	if i < 0 {
		return
	}
	for _, k := range r.kept[i:] {
		r.again[k.Step] = s.RunID
	}
	r.kept = r.kept[:i]
}

// take adds the results that a run has kept, and the steps whose end nobody knows. Errors are not
// inherited.
func (r *retried) take(s *messages.State, task string) {
	for _, k := range s.Kept {
		if r.find(k.Step) < 0 && k.Task == task && (k.Result != nil || k.Begun && !k.Again) {
			r.kept = append(r.kept, k)
		}
	}
}
