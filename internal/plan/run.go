package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// runner carries out the moves of the core as a task of a run. The task's goroutine owns it; only work runs in
// others.
type runner struct {
	Config
	runs     Runs // runs that the plan may read, or nil
	core     *core
	task     *actors.TaskContext
	ctx      context.Context // of the attempt
	arrivals chan arrival
	stops    map[unit]context.CancelCauseFunc // cancel running units
	past     past
	earlier  earlier
	replayed map[pastWork]move // starts whose ends are in the log
	steps    int64             // number of steps that have ended
	finished bool
	degraded bool // a step's result was
}

// arrival is the end of a unit, from the goroutine of its work.
type arrival struct {
	unit   unit
	ending ending
}

func newRunner(config Config, c *core, t *actors.TaskContext, e earlierRun) *runner {
	config.budget = cmp.Or(config.budget, new(expression.Budget))
	c.budget = config.budget
	var runs Runs
	if config.Runs != nil {
		runs = config.Runs(t.Principal())
	}
	return &runner{Config: config, runs: runs, core: c, task: t, arrivals: make(chan arrival, c.limit), earlier: earlier{earlierRun: e},
		stops: map[unit]context.CancelCauseFunc{}, replayed: map[pastWork]move{}}
}

// run carries out the plan: first as far as the log goes, then as units end.
func (r *runner) run(ctx context.Context) (err error) {
	if r.past, err = recall(r.task.Earlier(ctx)); err != nil {
		return err
	}
	r.ctx = ctx
	if timeout := time.Duration(r.core.plan.Timeout); timeout > 0 {
		began := r.past.began
		if began.IsZero() {
			began = time.Now()
		}
		late := supervision.Permanent(messages.Errorf(messages.CauseDeadline, "the steps took longer than %v", timeout))
		var stop context.CancelFunc
		r.ctx, stop = context.WithDeadlineCause(ctx, began.Add(timeout), late)
		defer stop()
	}
	r.core.ctx = r.ctx
	if r.earlier.id != "" {
		if err := r.recallEarlier(); err != nil {
			return supervision.Permanent(err)
		}
	}
	if err := r.do(r.core.begin()); err != nil {
		return err
	}
	if err := r.replay(); err != nil {
		return err
	}
	for !r.finished {
		if err := r.next(); err != nil {
			return err
		}
	}
	return r.finish()
}

// next handles the next end.
func (r *runner) next() error {
	if m, ok := r.earlier.next(); ok {
		e, err := r.kept(m)
		if err != nil {
			return supervision.Permanent(err)
		}
		return r.arrived(arrival{unit: m.unit, ending: e})
	}
	select {
	case a := <-r.arrivals:
		if r.ctx.Err() == nil { // otherwise the end may belong to the attempt rather than the step
			return r.arrived(a)
		}
	case <-r.ctx.Done():
	}
	return context.Cause(r.ctx)
}

func (r *runner) arrived(a arrival) error {
	r.stops[a.unit](nil)
	delete(r.stops, a.unit)
	r.degraded = r.degraded || a.ending.run != "" && a.ending.outcome == completed && a.ending.message != ""
	return r.do(r.core.ended(a.unit, a.ending))
}

// do carries out what the core decided, unless the attempt is over: its end may have ended an evaluation.
func (r *runner) do(moves []move) (err error) {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	for _, m := range moves {
		switch m.do {
		case doAnnounce:
			err = r.sayStarted(m)
		case doStart:
			err = r.prepare(m)
		case doEnd:
			err = r.sayEnded(m)
		case doStop:
			if stop := r.stops[m.unit]; stop != nil {
				stop(messages.Errorf(messages.CauseCanceledByUser, "%s", m.reason))
			}
		case doFinish:
			r.finished = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare starts a unit, or waits for its delay. Units that ended in an earlier attempt are left to replay.
func (r *runner) prepare(m move) error {
	key := pastWork{m.name, m.start}
	ctx, stop := context.WithCancelCause(r.ctx)
	r.stops[m.unit] = stop
	if _, done := r.past.ended[key]; done {
		r.replayed[key] = m
		return r.sayStarted(m)
	}
	if r.earlier.keeps(r.core, m) {
		r.earlier.waiting = append(r.earlier.waiting, m)
		return r.sayStarted(m)
	}
	if r.past.said[said{m.name, false}] > 0 {
		m.delay = 0 // an earlier attempt has waited
	}
	if m.delay == 0 {
		if err := r.sayStarted(m); err != nil {
			return err
		}
	}
	r.task.Go(func(context.Context) error {
		if m.delay > 0 {
			supervision.Sleep(ctx, m.delay)
			if r.ctx.Err() != nil {
				return nil
			}
			if err := r.emitStarted(m); err != nil {
				return err
			}
		}
		select {
		case r.arrivals <- arrival{m.unit, r.work(ctx, m)}:
		case <-r.ctx.Done():
		}
		return nil
	})
	return nil
}

// sayStarted announces that a step began, unless the log says so.
func (r *runner) sayStarted(m move) error {
	if r.past.skips(said{m.name, false}) {
		return nil
	}
	return r.emitStarted(m)
}

func (r *runner) emitStarted(m move) error {
	line := m.name + " starts: " + clipped(m.reason)
	if m.do == doStart && r.earlier.keeps(r.core, m) {
		line = m.name + " is taken over"
	}
	return r.task.Emit(messages.StepStarted{Step: m.name}, line)
}

// sayEnded announces how a step ended, unless the log says so.
func (r *runner) sayEnded(m move) error {
	if m.name == r.core.steps[m.unit.step].Name && (len(m.next) != 1 || m.next[0] != m.name) {
		r.steps++
		if err := r.task.Progress(r.steps, int64(len(r.core.steps)), "steps"); err != nil {
			return err
		}
	}
	if r.past.skips(said{m.name, true}) {
		return nil
	}
	if m.start > 0 && r.earlier.keeps(r.core, m) {
		m.reason = strings.TrimPrefix(m.reason+", as in "+string(r.earlier.id), ", ")
	}
	next, line := nextSteps(m.next), fmt.Sprintf("%s %s", m.name, m.outcome)
	if m.outcome == skipped {
		line = m.name + " is skipped"
	}
	if m.reason != "" {
		line += ": " + clipped(m.reason)
	}
	return r.task.Emit(messages.StepEnded{Step: m.name, Outcome: string(m.outcome), Next: next,
		Reason: clipped(m.reason)}, line)
}

// nextSteps lists the steps that start because a step has ended, as far as a line has room.
func nextSteps(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// clipped shortens a reason for the log.
func clipped(text string) string { return strings.ToValidUTF8(words.Clip(text, 500), "") }

// finish ends the task with the plan's result.
func (r *runner) finish() error {
	c := r.core
	if f := c.failure; f != nil {
		cause := cmp.Or(f.cause, messages.CauseError)
		where := ""
		if f.run != "" {
			where = fmt.Sprintf(" (%s, sub-run %s)", cause, f.run)
		}
		return supervision.Permanent(messages.Errorf(cause, "the step %s %s%s: %s", c.failed, f.outcome, where, f.message))
	}
	count := map[Outcome]int{}
	outcomes := make(map[string]Outcome, len(c.steps))
	for i, e := range c.over {
		outcomes[c.steps[i].Name] = e.outcome
		count[e.outcome]++
	}
	line := fmt.Sprintf("%d of %d steps completed", count[completed], len(c.steps))
	r.task.Summarize(line)
	if c.result == nil {
		return r.task.Result(map[string]any{"steps": outcomes}, r.degraded)
	}
	result, err := c.result.Eval(c.ctx, c.budget, c.environment)
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case err != nil:
		return supervision.Permanent(messages.Errorf(causeOf(err), "the result cannot be made: %v", err))
	}
	return r.keep(result)
}

// longestResult bounds the result of a plan, in bytes of JSON. A longer result becomes an artifact, which the result
// names.
const longestResult = messages.MaxEventBytes / 4

// keep sets the result, or writes it as an artifact if it is too long.
func (r *runner) keep(result any) error {
	data, err := json.Marshal(result)
	if err != nil {
		return supervision.Permanent(messages.InvalidInput("the result is not JSON: %v", err))
	}
	if len(data) <= longestResult || r.Write.New == nil {
		return r.task.Result(result, r.degraded)
	}
	name, text := "result.json", string(data)
	if plain, ok := result.(string); ok {
		name, text = "result.txt", plain
	}
	input, _ := json.Marshal(map[string]string{"name": name, "text": text}) // texts are always valid JSON
	job, err := r.Write.New(input)
	if err != nil {
		return err
	}
	run, err := r.task.Start(r.ctx, job, actors.Options{Key: "result"})
	if err != nil {
		return err
	}
	if _, err = run.Result(r.ctx); err != nil {
		return fmt.Errorf("the result cannot be kept: %w", err)
	}
	return r.task.Result(map[string]any{"artifact": map[string]any{"run": run.ID(), "name": name, "bytes": len(text)}}, r.degraded)
}
