package actors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

const maxStepResult, maxStepName = 1 << 20, 256 // bytes

// Do makes a step of the task: it calls fn, and returns once the run's log durably holds the result. A later attempt,
// on this node or another, gets the result from the log and does not call fn. Before the task's first call of fn, the
// log durably says that the task may be called again: if the node is lost, the run continues after its last step.
//
//	receipt, err := actors.Do(ctx, t, "charge", func(ctx context.Context) (Receipt, error) { … }, actors.Step{Input: order})
//
// The name is unique in its task and the same in every attempt: 1 to 256 bytes. The result is kept as JSON of at most
// 1 MiB, without secrets, and Do returns what a later attempt would find: the JSON has no field that T lacks, and null
// only where T has it. An error from supervision.Permanent is kept too, as its code and sentence. After any other error,
// or after ctx has ended with an error, the next attempt calls fn again; the same attempt gets the same error again.
// The next attempt also calls fn if the node dies before the result is durable: use [DoOnce] where that must not be.
//
// fn runs in the caller's goroutine, and its panic is the task's. What it says through t belongs to its attempt:
// texts and artifacts of a failed attempt are taken back, even if the step is kept. So return what later attempts
// must say again. A step within fn uses the ctx that fn gets.
func Do[T any](ctx context.Context, t *TaskContext, name string, fn func(context.Context) (T, error), about ...Step) (T, error) {
	return step(ctx, t, name, false, fn, about)
}

// DoOnce is Do for work that must not happen twice. It calls fn once the log durably says that the step begins. An
// attempt that finds a step begun but not ended gets a permanent error. All errors of fn are kept, except that a
// retryable one (supervision.RetryAfter, or a messages.Error with Retryable) lets the next attempt call fn again.
func DoOnce[T any](ctx context.Context, t *TaskContext, name string, fn func(context.Context) (T, error), about ...Step) (T, error) {
	return step(ctx, t, name, true, fn, about)
}

// Step says more of a step than its name.
type Step struct {
	// Input is what the step depends on; the log keeps the digest of its JSON. A kept result of another input is a
	// permanent error.
	Input any
	// Policy repeats fn within the step as it would repeat a task, but no crash. Without it, the task's own repeats all.
	Policy *supervision.Policy
	// Optional: a later attempt may take another branch, and not ask for the step. Else the run says so in a notice.
	Optional bool
}

// asked is what an attempt knows of its steps. The attempt's mu guards it.
type asked struct {
	// steps holds the steps that the log had before the attempt began, and a zero one for each step that the attempt
	// asks for.
	steps map[string]messages.StepKept
	may   bool // the log durably says that the task may be called again
	// inherits: the run retries another, whose steps stand in the attempt's earlier.
	inherits bool
	found    map[string]bool  // the steps that it asked for and the log had
	first    map[string]error // the first error of each step that it asked for
}

// withinStep is the key of the name of the step that a context belongs to.
type withinStep struct{}

// step decodes the stored result even if fn has just returned it, so that the first attempt and a later one see the
// same.
func step[T any](ctx context.Context, t *TaskContext, name string, once bool, fn func(context.Context) (T, error), about []Step) (result T, err error) {
	if len(about) > 1 {
		return result, messages.InvalidInput("step %q is described by %d values of actors.Step: use one", name, len(about))
	}
	stored, err := t.step(ctx, name, once, append(about, Step{})[0], func() (any, error) {
		return fn(context.WithValue(ctx, withinStep{}, name))
	})
	if err != nil {
		return result, err
	}
	if err := readKept(name, stored, &result); err != nil {
		return *new(T), err
	}
	return result, nil
}

// readKept decodes the result of a step into the value at result. Errors: invalid_output.
func readKept(name string, stored json.RawMessage, result any) error {
	if err := readStrictly(stored, result); err != nil {
		return supervision.Permanent(messages.Errorf(messages.CauseInvalidOutput,
			"the kept result of step %q is not what the code expects: %v; give the step another name, or read the old form too",
			name, err))
	}
	return nil
}

// readStrictly decodes JSON that must fit: no field that the type lacks, no null or list that it reads as another.
func readStrictly(stored json.RawMessage, result any) error {
	d := json.NewDecoder(bytes.NewReader(stored))
	d.DisallowUnknownFields()
	if err := d.Decode(result); err != nil {
		return err
	}
	if !bytes.Contains(stored, []byte("null")) && !bytes.ContainsRune(stored, '[') {
		return nil
	}
	var said any
	if err := json.Unmarshal(stored, &said); err != nil {
		return err
	}
	if !fits(said, reflect.TypeOf(result).Elem()) {
		return errors.New("it has null, or a list of another length, where the type has a value")
	}
	return nil
}

// fits reports whether the type has null where JSON that decodes as it has null, and an array all of a list. A type that
// decodes itself decides what is in it.
func fits(said any, t reflect.Type) bool {
	if said == nil {
		null := reflect.New(t)
		err := json.Unmarshal([]byte("null"), null.Interface())
		text, failed := json.Marshal(null.Interface())
		return err == nil && failed == nil && string(text) == "null"
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return true
	}
	switch said := said.(type) {
	case []any:
		switch t.Kind() {
		case reflect.Array, reflect.Slice:
			return (t.Kind() == reflect.Slice || t.Len() == len(said)) &&
				!slices.ContainsFunc(said, func(v any) bool { return !fits(v, t.Elem()) })
		}
	case map[string]any:
		for name, v := range said {
			if member := memberOf(t, name); member != nil && !fits(v, member) {
				return false
			}
		}
	}
	return t.Kind() != reflect.Pointer || fits(said, t.Elem())
}

// memberOf returns the type of an object's member in a map or a struct, or nil.
func memberOf(t reflect.Type, name string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && strings.EqualFold(cmp.Or(tag, f.Name), name) {
				return f.Type
			}
		}
	}
	return nil
}

// step returns the step's result from the log or, once the log durably holds it, from f.
func (t *TaskContext) step(ctx context.Context, name string, once bool, about Step, f func() (any, error)) (json.RawMessage, error) {
	if name == "" || len(name) > maxStepName || messages.Check(messages.StepKept{Step: name}) != nil {
		return nil, messages.InvalidInput("the name of a step is UTF-8 of 1 to %d bytes that no terminal obeys, not %.64q of %d", maxStepName, name, len(name))
	}
	input, err := about.digest(name)
	if err != nil {
		return nil, err
	}
	a := t.attempt
	a.mu.Lock()
	before, known := a.steps[name]
	first, may := a.first[name], a.may
	a.note(name, before)
	a.mu.Unlock()
	switch {
	case first != nil:
		return nil, first
	case known && before.Step == "":
		return nil, messages.InvalidInput("step %q has been asked for in this attempt: each step of a task needs its own name", name)
	}
	within, _ := ctx.Value(withinStep{}).(string)
	kept := messages.StepKept{Step: name, Input: input, Optional: about.Optional, Within: within}
	result, err := t.kept(before, kept, once)
	if result == nil && err == nil {
		result, err = t.makeOrInherit(ctx, kept, once, !may, about.repeating(ctx, t, f))
	}
	if err != nil {
		a.mu.Lock()
		a.first[name] = err
		a.mu.Unlock()
	}
	return result, err
}

// digest returns the digest of the step's input, or "" if it has none.
func (s *Step) digest(name string) (string, error) {
	if s.Input == nil {
		return "", nil
	}
	data, err := json.Marshal(s.Input)
	if err != nil {
		return "", messages.InvalidInput("the input of step %q is not JSON: %v", name, err)
	}
	return messages.Digest(string(data)), nil
}

// repeating returns f, repeated as the step's policy says.
func (s *Step) repeating(ctx context.Context, t *TaskContext, f func() (any, error)) func() (any, error) {
	if s.Policy == nil {
		return f
	}
	return func() (any, error) {
		for n := 1; ; n++ {
			result, err := f()
			if err == nil {
				return result, nil
			}
			d := s.Policy.Decide(supervision.Failure{Attempt: n, Err: err}, t.attempt.run.system.jitter())
			if !d.Retry {
				return nil, err
			}
			if supervision.Sleep(ctx, d.Delay); ctx.Err() != nil {
				return nil, err
			}
		}
	}
}

// note notes that the attempt asks for the step. before is what the log had of it.
func (a *asked) note(name string, before messages.StepKept) {
	if a.steps == nil {
		a.steps = map[string]messages.StepKept{}
	}
	if a.first == nil {
		a.found, a.first = map[string]bool{}, map[string]error{}
	}
	a.steps[name] = messages.StepKept{}
	if isKept(before) {
		a.found[name] = true
	}
}

// isKept reports whether the step is not made again.
func isKept(k messages.StepKept) bool {
	return k.Result != nil || k.Error != nil && !k.Error.Retryable || k.Begun && !k.Again
}

// kept returns what the log has of the step: its result, why it is not made, or neither.
func (t *TaskContext) kept(before, now messages.StepKept, once bool) (json.RawMessage, error) {
	switch {
	case isKept(before) && !before.Begun && before.Input != "" && now.Input != "" && before.Input != now.Input:
		return nil, supervision.Permanent(messages.Errorf(messages.CauseInvalidOutput,
			"the kept result of step %q is of another input: give the step another name for another input", now.Step))
	case before.Result != nil:
		return before.Result, nil
	case before.Error != nil && !before.Error.Retryable:
		return nil, supervision.Permanent(new(*before.Error))
	case before.Begun && (once || !before.Again):
		return nil, supervision.Permanent(messages.Errorf(messages.CauseError,
			"step %q began in an earlier attempt, and its outcome is unknown: a step with DoOnce is never repeated; another name is another step", now.Step))
	}
	return nil, nil
}

// makeOrInherit keeps the result that a run has left which this one retries, or makes the step.
func (t *TaskContext) makeOrInherit(ctx context.Context, step messages.StepKept, once, first bool, f func() (any, error)) (json.RawMessage, error) {
	before, err := t.retriedStep(ctx, step.Step)
	if err != nil {
		return nil, err
	}
	result, err := t.kept(before, step, once)
	if err != nil {
		return nil, err
	}
	if result != nil {
		t.attempt.mu.Lock()
		t.attempt.found[step.Step] = true
		t.attempt.mu.Unlock()
		f = func() (any, error) { return result, nil }
	}
	return t.make(ctx, step, once, first, f)
}

// make makes the step, and keeps how it ended.
func (t *TaskContext) make(ctx context.Context, step messages.StepKept, once, first bool, f func() (any, error)) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	step.Since = t.attempt.run.log.Newest()
	if recorded, ok, err := t.Recorded(ctx, messages.StepKept{Step: step.Step, Task: t.Name()}); ok {
		f = func() (any, error) { return stepOutcome(recorded, err) }
	}
	if once || first {
		if err := t.begin(ctx, step, once); err != nil {
			return nil, err
		}
	}
	result, err := f()
	if err == nil {
		if step.Result, err = stepResult(step.Step, result); err == nil {
			return step.Result, t.keep(step, "is done", t.work.Conclude)
		}
	}
	if ctx.Err() != nil || !once && !supervision.IsPermanent(err) {
		return nil, err
	}
	step.Error = supervision.Policy{}.Decide(supervision.Failure{Attempt: 1, Err: err}, 0).Error
	if !step.Error.Retryable {
		err = supervision.Permanent(step.Error)
	}
	return nil, cmp.Or(t.keep(step, "failed", t.work.Conclude), err)
}

// begin returns once the log durably says that the step begins. If it fails, the log may say so and the step is not
// made; a step that must not happen twice is then free again.
func (t *TaskContext) begin(ctx context.Context, step messages.StepKept, once bool) error {
	step.Since, step.Begun, step.Again = 0, true, !once
	err := t.keep(step, "begins", t.work.Send)
	if err = cmp.Or(err, context.Cause(ctx)); err == nil {
		a := t.attempt
		a.mu.Lock()
		a.may = true
		a.mu.Unlock()
	} else if once {
		unmade := &messages.Error{Code: messages.CodeUnavailable, Message: "the step was not made", Retryable: true}
		_ = t.keep(messages.StepKept{Step: step.Step, Error: unmade}, "was not made", t.work.Conclude)
	}
	return err
}

// stepOutcome converts a step's recorded end to a result or an error.
func stepOutcome(recorded []messages.Body, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	k, _ := recorded[len(recorded)-1].(messages.StepKept)
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
		return nil, supervision.Permanent(messages.LimitExceeded("the result of step %q has %d bytes, and %d at most are kept: write an artifact, and return its name",
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
	state := m.ledger.Fold.Peek()
	a.inherits = state.Queued.Labels[messages.RetryLabel] != ""
	for _, k := range state.Kept {
		if a.steps == nil {
			a.steps = map[string]messages.StepKept{}
		}
		if k.Task == a.task.Name {
			a.steps[k.Step], a.may = k, true
		}
	}
}

// unasked names the kept steps that a completed attempt did not ask for, also of a run that this one retries: its
// code has changed. That is an error if the job's version has changed as well since run.queued, and otherwise a notice.
func (m *machine) unasked(a *attempt) error {
	a.mu.Lock()
	all := a.steps
	if a.earlier != nil && len(a.earlier.kept) > 0 {
		all = map[string]messages.StepKept{}
		for _, k := range a.earlier.kept {
			all[k.Step] = k
		}
		maps.Copy(all, a.steps)
	}
	var names []string
	for name, k := range all {
		if k.Step != "" && isKept(k) && !k.Optional && !a.stoodFor(all, k) {
			names = append(names, strconv.Quote(name))
		}
	}
	a.mu.Unlock()
	if names == nil {
		return nil
	}
	words.SortNatural(names)
	text := "earlier attempts kept steps of task " + a.task.Name + " that the code no longer asks for: " + strings.Join(names, ", ")
	if then := m.ledger.Fold.Peek().Queued.Version; m.job.Version != "" && m.job.Version != then {
		return supervision.Permanent(messages.Errorf(messages.CauseInvalidOutput,
			"%s; the run began with version %q of the job, and this is %q: ask for them, or start the run again", text, then, m.job.Version))
	}
	text = words.Clip(text, messages.LogLineBytes-len("…"))
	_ = m.record(messages.Notice{Task: a.task.Name, Code: messages.NoticeStepUnused, Text: text}, text)
	return nil
}

// stoodFor reports whether the log had the result of a step around this one.
func (a *asked) stoodFor(all map[string]messages.StepKept, k messages.StepKept) bool {
	for k.Within != "" {
		if a.found[k.Within] {
			return true
		}
		k = all[k.Within]
	}
	return false
}
