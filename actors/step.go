package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

const maxStepResult, maxStepName = 1 << 20, 256 // bytes

// Do makes a step of the task: it calls fn, and returns once the run's log durably holds the result. A later attempt,
// on this node or another, gets the result from the log and does not call fn. So a restarted run (see Job.Restart)
// continues after its last step.
//
//	receipt, err := actors.Do(ctx, t, "charge", func(ctx context.Context) (Receipt, error) { … })
//
// The name is unique in its task and the same in every attempt: 1 to 256 bytes. The result is kept as JSON of at most
// 1 MiB, without secrets, and Do returns what a later attempt would find. An error from supervision.Permanent is kept
// too, as its code and sentence. After any other error, or after ctx has ended with an error, the next attempt calls
// fn again. The same happens if the node dies before the result is durable: use [DoOnce] where that must not be.
//
// fn runs in the caller's goroutine, and its panic is the task's. What it says through t belongs to its attempt:
// texts and artifacts of a failed attempt are taken back, even if the step is kept. So return what later attempts
// must say again.
func Do[T any](ctx context.Context, t *TaskContext, name string, fn func(context.Context) (T, error)) (T, error) {
	return step(ctx, t, name, false, fn)
}

// DoOnce is Do for work that must not happen twice. It calls fn once the log durably says that the step begins. An
// attempt that finds a step begun but not ended gets a permanent error. All errors of fn are kept, except that a
// retryable one (supervision.RetryAfter, or a messages.Error with Retryable) lets the next attempt call fn again.
func DoOnce[T any](ctx context.Context, t *TaskContext, name string, fn func(context.Context) (T, error)) (T, error) {
	return step(ctx, t, name, true, fn)
}

// step decodes the stored result even if fn has just returned it, so that the first attempt and a later one see the
// same.
func step[T any](ctx context.Context, t *TaskContext, name string, once bool, fn func(context.Context) (T, error)) (result T, err error) {
	stored, err := t.step(ctx, name, once, func() (any, error) { return fn(ctx) })
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(stored, &result); err != nil {
		return *new(T), supervision.Permanent(messages.Errorf(messages.CauseInvalidOutput,
			"the kept result of step %q is not what the code expects: %v; give the step another name, or read the old form too",
			name, err))
	}
	return result, nil
}

// step returns the step's result from the log or, once the log durably holds it, from f.
func (t *TaskContext) step(ctx context.Context, name string, once bool, f func() (any, error)) (json.RawMessage, error) {
	if name == "" || len(name) > maxStepName || !utf8.ValidString(name) {
		return nil, messages.InvalidInput("the name of a step is UTF-8 of 1 to %d bytes, not %.64q of %d", maxStepName, name, len(name))
	}
	a := t.attempt
	a.mu.Lock()
	before, known := a.steps[name]
	if a.steps == nil {
		a.steps = map[string]messages.StepKept{}
	}
	a.steps[name] = messages.StepKept{}
	a.mu.Unlock()
	switch {
	case known && before.Step == "":
		return nil, messages.InvalidInput("step %q has been asked for in this attempt: each step of a task needs a name of its own", name)
	case before.Result != nil:
		return before.Result, nil
	case before.Error != nil && !before.Error.Retryable:
		return nil, supervision.Permanent(new(*before.Error))
	case before.Begun && once:
		return nil, supervision.Permanent(messages.Errorf(messages.CauseError,
			"step %q had begun in an earlier attempt, and nobody knows how it ended: it must not be made twice", name))
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	since := a.run.log.Newest()
	if told, ok, err := t.Recorded(ctx, messages.StepKept{Step: name, Task: t.Name()}); ok {
		f = func() (any, error) { return stepOutcome(told, err) }
	}
	if once {
		err := t.keep(messages.StepKept{Step: name, Begun: true}, "begins", t.work.Send)
		if err = cmp.Or(err, context.Cause(ctx)); err != nil { // the log may say that the step began, but f is not called
			unmade := &messages.Error{Code: messages.CodeUnavailable, Message: "the step was not made", Retryable: true}
			_ = t.keep(messages.StepKept{Step: name, Error: unmade}, "was not made", t.work.Conclude)
			return nil, err
		}
	}
	result, err := f()
	kept := messages.StepKept{Step: name, Since: since}
	if err == nil {
		if kept.Result, err = stepResult(name, result); err == nil {
			return kept.Result, t.keep(kept, "is done", t.work.Conclude)
		}
	}
	if ctx.Err() != nil || !once && !supervision.IsPermanent(err) {
		return nil, err
	}
	kept.Error = supervision.Policy{}.Decide(supervision.Failure{Attempt: 1, Err: err}, 0).Error
	if !kept.Error.Retryable {
		err = supervision.Permanent(kept.Error)
	}
	return nil, cmp.Or(t.keep(kept, "failed", t.work.Conclude), err)
}

// stepOutcome converts a step's recorded end to a result or an error.
func stepOutcome(told []messages.Body, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	k, _ := told[len(told)-1].(messages.StepKept)
	switch {
	case k.Error == nil:
		return k.Result, nil
	case k.Error.Retryable:
		return nil, k.Error
	}
	return nil, supervision.Permanent(k.Error)
}

// stepResult encodes the result for the log. Its errors are permanent, because calling f again would not help.
func stepResult(name string, v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err == nil {
		err = messages.Check(messages.StepKept{Result: data})
	}
	switch {
	case err != nil:
		return nil, supervision.Permanent(messages.InvalidInput("the result of step %q is not JSON: %v", name, err))
	case len(data) > maxStepResult:
		return nil, supervision.Permanent(messages.Errorf(messages.CauseLimitExceeded,
			"the result of step %q has %d bytes, and %d at most are kept: write an artifact, and return its name",
			name, len(data), maxStepResult))
	}
	return data, nil
}

// keep returns once the log durably holds the body. After a cancel it returns at once; the log still gets the body.
func (t *TaskContext) keep(body messages.StepKept, what string, send func(any) error) error {
	e := &emission{attempt: t.attempt, body: body, message: "step " + body.Step + " " + what, durable: true}
	return t.tell(e, send, t.work.Context().Done())
}

// findKept gives the attempt the steps of its task that the log holds, by name.
func (m *machine) findKept(a *attempt) {
	for _, k := range m.ledger.Fold.Peek().Kept {
		if a.steps == nil {
			a.steps = map[string]messages.StepKept{}
		}
		if k.Task == a.task.Name {
			a.steps[k.Step] = k
		}
	}
}
