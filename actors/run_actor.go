package actors

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// runActor owns a run's state machine: it alone records the run's events while it is alive. Its Receive never blocks.
//
// Its phases: working on task next-1, waiting to retry it, or ending with a word, which it writes when no attempt runs
// and no child is alive, or after the hard limit when what still runs is abandoned.
type runActor struct {
	*supervision.Children
	system *System
	run    *activeRun

	next    int      // index of the task after the current one
	now     *attempt // the attempt under way; nil between attempts
	overdue error    // why the attempt under way is over whatever it returns
	pending map[string]chan answer
	held    []*supervision.Task // credits withheld while the journal is behind
	word    messages.Body       // the terminal to write; nil while the run works
	says    string              // the message of word
	written bool                // the last word is in the log
	limited bool                // the hard limit is armed
	gaveUp  bool                // the hard limit has passed: what still runs is abandoned
	timers  []*time.Timer
}

// What the run actor is told.
type (
	cancelRun   struct{ by, reason string }
	expireRun   struct{ cause messages.Cause }
	answerInput struct {
		request   string
		value     json.RawMessage
		principal string
		reply     chan<- error
	}
	attemptDue  struct{ attempt *attempt }
	retryDue    struct{ attempt *attempt }
	softLimit   struct{}
	hardLimit   struct{}
	workGone    struct{}
	journalFree struct{}
)

func (cancelRun) IgnoreDeadLetterLogging()   {}
func (expireRun) IgnoreDeadLetterLogging()   {}
func (answerInput) IgnoreDeadLetterLogging() {}
func (attemptDue) IgnoreDeadLetterLogging()  {}
func (retryDue) IgnoreDeadLetterLogging()    {}
func (softLimit) IgnoreDeadLetterLogging()   {}
func (hardLimit) IgnoreDeadLetterLogging()   {}
func (workGone) IgnoreDeadLetterLogging()    {}
func (journalFree) IgnoreDeadLetterLogging() {}

// Causes with which a run's context ends.
var (
	errCanceled = messages.Errorf(messages.Code(messages.CauseCanceledByUser), "the run was cancelled")
	errEnding   = messages.Errorf(messages.Code(messages.CauseError), "the run is ending")
)

func (r *runActor) Receive(c actor.Context) {
	r.system.inject(r.run, runName, c)
	if exit, handled := r.Children.Receive(c); handled {
		if exit != nil {
			r.childGone(c, *exit)
		}
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		r.start(c)
	case *supervision.TaskMessage:
		r.taskSaid(c, m)
	case *taskDone:
		r.attemptOver(c, m.attempt, m.err)
	case *actor.Stopping:
		r.run.cancel(errEnding)
		r.stopTimers()
	default:
		r.control(c, m)
	}
}

func (r *runActor) control(c actor.Context, message any) {
	switch m := message.(type) {
	case *cancelRun:
		r.accept(c, m)
	case *expireRun:
		r.expire(c, m.cause)
	case *answerInput:
		m.reply <- r.answer(m)
	case *attemptDue:
		r.attemptDue(c, m.attempt)
	case *retryDue:
		if r.word == nil && m.attempt == r.now {
			r.restart(c)
		}
	case *journalFree:
		if r.release(); len(r.held) > 0 {
			r.awaitJournal(c)
		}
	case *softLimit:
		r.stopChildren(c)
	case *hardLimit:
		r.abandon(c)
	case *workGone:
		r.settle(c)
	}
}

func (r *runActor) start(c actor.Context) {
	root, self := r.system.node.Root(), c.Self()
	r.run.log.onDrop(func() { root.Send(self, &expireRun{messages.CauseNodeLost}) })
	for _, t := range r.run.job.Tasks {
		if _, err := r.spawn(c, t.Name); err != nil {
			r.fail(c, t.Name, err)
			return
		}
	}
	r.record(messages.RunStarted{Node: r.system.config.Node}, r.run.job.Name+" started")
	r.nextTask(c)
}

func (r *runActor) spawn(c actor.Context, task string) (*actor.PID, error) {
	return r.Start(c, supervision.ChildSpec{
		Name:     task,
		Shutdown: r.system.config.CancelHard,
		New:      func() actor.Actor { return &taskActor{system: r.system, run: r.run} },
	})
}

// nextTask begins the task after the current one, or ends the run.
func (r *runActor) nextTask(c actor.Context) {
	if r.next == len(r.run.job.Tasks) {
		r.end(c, r.run.completed(), r.run.job.Name+" completed")
		return
	}
	task := r.run.job.Tasks[r.next]
	r.next++
	if r.PID(task.Name) == nil {
		r.fail(c, task.Name, supervision.ErrKilled)
		return
	}
	r.begin(c, &attempt{run: r.run, task: task, number: 1})
}

func (r *runActor) begin(c actor.Context, a *attempt) {
	r.now, r.overdue, r.pending = a, nil, nil
	r.run.begin(a)
	if a.number == 1 {
		r.record(messages.TaskStarted{Task: a.task.Name, Attempt: 1}, taskMessage(a.task.Name, "started", ""))
	} else {
		r.record(messages.TaskRestarted{Task: a.task.Name, Attempt: a.number}, taskMessage(a.task.Name, "restarted", ""))
	}
	if a.task.Deadline > 0 {
		r.after(c, a.task.Deadline, &attemptDue{a})
	}
	c.Send(r.PID(a.task.Name), &begin{a})
}

// after sends the actor a message when the time has passed. Timers are stopped when the actor is.
func (r *runActor) after(c actor.Context, d time.Duration, message any) {
	root, self := r.system.node.Root(), c.Self()
	r.timers = append(r.timers, time.AfterFunc(d, func() { root.Send(self, message) }))
}

func (r *runActor) stopTimers() {
	for _, t := range r.timers {
		t.Stop()
	}
	r.timers = nil
}

// taskSaid records what the current attempt says and gives its credit back, unless the journal is behind.
func (r *runActor) taskSaid(c actor.Context, m *supervision.TaskMessage) {
	e, ok := m.Message.(*emission)
	if !ok || r.now == nil || e.attempt != r.now {
		m.Task.Ack()
		return
	}
	if e.answer != nil {
		r.ask(e)
	} else {
		r.record(owned(e.body, e.attempt.task.Name), e.message)
	}
	over, pressed := r.run.log.overLimit()
	if over && r.word == nil {
		r.fail(c, e.attempt.task.Name, messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"the run's events take more than %d bytes; raise the limit or say less", r.run.log.maxBytes))
	}
	if !pressed {
		m.Task.Ack()
		return
	}
	r.held = append(r.held, m.Task)
	if len(r.held) == 1 {
		r.awaitJournal(c)
	}
}

func (r *runActor) awaitJournal(c actor.Context) {
	root, self := r.system.node.Root(), c.Self()
	r.run.log.onDurable(func() { root.Send(self, &journalFree{}) })
	r.release() // the journal may have moved between the question and the registration
}

func (r *runActor) release() {
	if _, pressed := r.run.log.overLimit(); pressed {
		return
	}
	for _, t := range r.held {
		t.Ack()
	}
	r.held = nil
}

// ask says input.required and remembers who waits for the answer. What an earlier attempt of the task has asked already
// is asked once.
func (r *runActor) ask(e *emission) {
	request := e.body.(messages.InputRequired).Request
	if !r.asked(request, e.attempt.task.Name) {
		if err := r.record(owned(e.body, e.attempt.task.Name), e.message); err != nil {
			e.answer <- answer{err: err}
			return
		}
	}
	if r.pending == nil {
		r.pending = map[string]chan answer{}
	}
	r.pending[request] = e.answer
}

func (r *runActor) asked(request, task string) bool {
	return r.pending[request] == nil && slices.ContainsFunc(r.run.log.current().Inputs, func(in messages.Input) bool {
		return in.Request == request && in.Task == task && !in.Closed
	})
}

func (r *runActor) answer(m *answerInput) error {
	waiting := r.pending[m.request]
	if waiting == nil {
		return messages.Errorf(messages.CodeNotFound, "run %s does not wait for an answer to %q", r.run.id, m.request)
	}
	received := messages.InputReceived{Request: m.request, Value: m.value, Principal: m.principal}
	if err := r.record(received, "answer received"); err != nil {
		return err
	}
	delete(r.pending, m.request)
	waiting <- answer{value: m.value}
	return nil
}

// attemptDue gives a task that is past its deadline the soft limit to return and the hard limit to be gone. The work may
// be that of an attempt whose actor crashed, for which the next attempt waits.
func (r *runActor) attemptDue(c actor.Context, a *attempt) {
	switch {
	case r.word != nil || a != r.now && a != r.working():
	case r.overdue == nil:
		r.overdue = messages.Errorf(messages.Code(messages.CauseDeadline),
			"%s took longer than %s", a.task.Name, a.task.Deadline)
		a.cancel(r.overdue)
		r.after(c, r.system.config.CancelSoft, &attemptDue{a})
	default:
		r.fail(c, a.task.Name, r.overdue)
	}
}

// attemptOver decides what follows an attempt that returned or whose actor is gone.
func (r *runActor) attemptOver(c actor.Context, a *attempt, err error) {
	if a != r.now {
		return
	}
	if r.overdue != nil {
		err = r.overdue
	}
	if r.word != nil {
		r.settle(c)
		return
	}
	if err == nil {
		r.now = nil
		a.mu.Lock()
		summary := a.summary
		a.mu.Unlock()
		r.record(messages.TaskCompleted{Task: a.task.Name, Attempt: a.number}, taskMessage(a.task.Name, "completed", summary))
		r.nextTask(c)
		return
	}
	d := a.task.Policy.Decide(supervision.Failure{Attempt: a.number, Err: err}, rand.Float64())
	r.record(messages.TaskFailed{Task: a.task.Name, Attempt: a.number, Cause: d.Cause, Error: d.Error,
		WillRetry: d.Retry, DelayMS: d.Delay.Milliseconds()}, taskMessage(a.task.Name, "failed", d.Error.Message))
	if !d.Retry {
		r.now = nil
		r.end(c, messages.RunFailed{By: messages.ByRun, Cause: d.Cause, Task: a.task.Name, Error: d.Error}, d.Error.Message)
		return
	}
	r.now = &attempt{run: r.run, task: a.task, number: a.number + 1}
	r.after(c, d.Delay, &retryDue{r.now})
}

// restart begins the next attempt, once the work of the one before has ended: its actor may have gone without it.
func (r *runActor) restart(c actor.Context) {
	if before := r.working(); before != nil {
		r.await(c, before, &retryDue{r.now})
		return
	}
	if r.PID(r.now.task.Name) == nil {
		if _, err := r.spawn(c, r.now.task.Name); err != nil {
			r.fail(c, r.now.task.Name, err)
			return
		}
	}
	r.begin(c, r.now)
}

// childGone is told of every child's end, after everything the child said.
func (r *runActor) childGone(c actor.Context, exit supervision.Exit) {
	switch {
	case r.word != nil:
		r.settle(c)
	case r.now != nil && r.now.task.Name == exit.Name:
		r.lost(c, exit)
	case exit.Err != nil:
		r.system.log.Warn("task actor ended beside its work", r.field(), zap.String("task", exit.Name), zap.Error(exit.Err))
		if !r.finished(exit.Name) {
			r.fail(c, exit.Name, exit.Err)
		}
	}
}

// lost handles the end of the current task's actor. While its retry is waited for there is nothing to lose: the next
// attempt gets a new actor.
func (r *runActor) lost(c actor.Context, exit supervision.Exit) {
	if r.waiting() {
		return
	}
	err := exit.Err
	if err == nil {
		err = supervision.ErrKilled
	}
	r.attemptOver(c, r.now, err)
}

// waiting reports whether the current attempt has not begun.
func (r *runActor) waiting() bool {
	t, _ := r.run.log.current().Task(r.now.task.Name)
	return t.Status == messages.TaskWaiting
}

func (r *runActor) finished(task string) bool {
	t, ok := r.run.log.current().Task(task)
	return ok && t.Status == messages.TaskFinished
}

func (r *runActor) record(body messages.Body, message string) error {
	err := r.run.log.record(body, message)
	if refused, ok := errors.AsType[*messages.Refusal](err); ok {
		r.system.log.Warn("event refused", r.field(), zap.String("kind", string(body.Kind())), zap.String("reason", refused.Reason))
	}
	return err
}

func (r *runActor) field() zap.Field { return zap.String("run", string(r.run.id)) }
