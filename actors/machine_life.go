package actors

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// begin takes ownership of a run that nobody has started, or whose node was lost. Nothing is shown, called or emitted
// before the owning event is durable.
func (m *machine) begin() {
	state := m.ledger.Fold.Peek()
	if state.After != "" && !state.Canceling {
		m.queue()
		return
	}
	m.start()
}

// start takes ownership, unless the run has ended before it began.
func (m *machine) start() {
	m.phase = opening{}
	state := m.ledger.Fold.Peek()
	switch {
	case state.Canceling:
		m.end(messages.RunCanceled{By: messages.ByNode, Cause: messages.CauseCanceledByUser}, "canceled", errCanceled)
		return
	case state.Status == messages.Pending:
		_ = m.record(messages.RunStarted{Node: m.node, Epoch: m.epoch}, m.job.Name+" started")
	default:
		_ = m.ledger.Recover(m.now, m.job.Name+" starts again: its node was lost", func(rewind *messages.Rewind) messages.Body {
			return messages.RunRecovered{Node: m.node, Epoch: m.epoch, Restart: true, Rewind: rewind}
		})
		m.adoptChildren()
	}
	m.nextAttempt(m.attemptAt(&m.job.Tasks[0]))
	m.next = 1
	m.whenKept(&opened{})
}

// attemptAt returns the first attempt at the task. In a restarted run, it is the one after the attempts in the log.
func (m *machine) attemptAt(task *Task) *attempt {
	before, _ := m.ledger.Fold.Task(task.Name)
	return &attempt{task: task, number: before.Attempt + 1, lost: m.ledger.Fold.Peek().Recoveries > 0}
}

// opened starts the first attempt, since the owning event is durable.
func (m *machine) opened() {
	if _, ok := m.phase.(opening); !ok {
		return
	}
	m.phase = attempting{}
	m.call(m.current)
}

// adoptChildren notes the children that the log names. It follows those that have not ended, whoever runs them. A
// child that was named but has no log waits for the attempt that asks for it again.
func (m *machine) adoptChildren() {
	children := m.ledger.Fold.Peek().Children
	if len(children) == 0 {
		return
	}
	m.children, m.childIDs = map[messages.RunID]*childRun{}, map[string]messages.RunID{}
	for _, c := range children {
		m.childIDs[c.Task+"\x00"+c.Name] = c.Child
		if c.Status.IsEnded() {
			continue
		}
		child := &childRun{id: c.Child, name: c.Name, task: c.Task, job: Job{Name: c.Job}, started: true, unborn: m.unborn[c.Child]}
		m.children[c.Child] = child
		if !child.unborn {
			m.do(effect{do: doFollowChild, child: child})
		}
	}
}

// mostAttempts is the number of attempts after which no node restarts the run: the task may be what kills the nodes.
const mostAttempts = 10

// errSaidNothing says how a job's run can go on.
var errSaidNothing = errors.New("its job has not said that it may be called again: " +
	"set Restart if the job may be called again, or put its effects into actors.Do (retry, for a command)")

// cannotRestart returns why no node may start the run again, or nil. The newest task or its job must have said that it
// may be called again, or the run only waits for people; and no task that must not run twice has begun.
func cannotRestart(job *Job, f *messages.Fold) error {
	state := f.Peek()
	newest, tired, waits := -1, "", false
	for _, now := range state.Tasks {
		pos := job.find(now.Name)
		switch {
		case pos < 0:
			return fmt.Errorf("its job %s no longer has the task %s, which had begun", job.Name, now.Name)
		case job.Tasks[pos].Once:
			return fmt.Errorf("its task %s had begun and has Once: it is never called again", now.Name)
		case now.Status == messages.TaskGaveUp:
			return fmt.Errorf("its task %s had failed", now.Name)
		case now.Attempt >= mostAttempts:
			tired = now.Name
		}
		newest = max(newest, pos)
		waits = waits || now.Status == messages.TaskRunning && slices.ContainsFunc(state.Inputs,
			func(in messages.Input) bool { return in.Task == now.Name && !in.Closed })
	}
	switch {
	case state.Canceling || state.Status.IsEnded():
		return errEnding
	case state.Status == messages.Pending: // nothing has begun
		return nil
	case job.NoRestart:
		return errors.New("its job has NoRestart: it is never called again")
	case waits:
		return nil
	case tired != "":
		return fmt.Errorf("its task %s has been called %d times", tired, mostAttempts)
	case job.Restart || newest >= 0 && mayRepeat(&job.Tasks[newest], state):
		return nil
	}
	return errSaidNothing
}

// mayRepeat reports whether the task's policy, or a step that it has asked for, says that it may be called again.
func mayRepeat(task *Task, state *messages.State) bool {
	return task.Policy.RetryCrash || slices.ContainsFunc(state.Kept, func(k messages.StepKept) bool { return k.Task == task.Name })
}

// handOver stops the work of a run that another node may start again, and leaves it without a terminal. Any other run
// fails.
func (m *machine) handOver() {
	switch m.phase.(type) {
	case *ending, done:
		return
	}
	if why := cannotRestart(m.job, &m.ledger.Fold); why != nil {
		m.fail(messages.Errorf(messages.CauseShutdown, "%s, and %v", errShutdown.Message, why))
		return
	}
	w := &ending{}
	m.phase = w
	for _, id := range m.sortedChildren() {
		switch c := m.children[id]; {
		case c.here:
			m.do(effect{do: doHandOverChild, child: c})
		default: // its parent continues elsewhere, and finds it there
			delete(m.children, id)
		}
	}
	m.do(effect{do: doCancel, err: errShutdown})
	if m.working != nil {
		m.after(m.soft, &softLimit{})
	}
	m.settle(w)
}

// childLeft handles the hand-over of a child.
func (m *machine) childLeft(id messages.RunID) {
	delete(m.children, id)
	if w, ok := m.phase.(*ending); ok {
		m.settle(w)
	}
}

// cancel accepts a cancel: after run.canceling the run can only end as canceled.
func (m *machine) cancel(c *cancelRun) {
	state := m.ledger.Fold.Peek()
	if state.Status.IsEnded() || state.Canceling {
		m.kept(c.reply)
		return
	}
	if _, waits := m.phase.(queuing); c.waiting && !waits {
		tell(m, c.reply, errNotWaiting(state.RunID))
		return
	}
	if err := m.record(messages.RunCanceling{By: c.by, Reason: c.reason, ID: c.id}, "canceling"); err != nil {
		tell(m, c.reply, err)
		return
	}
	m.kept(c.reply)
	m.end(messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser}, "canceled", errCanceled)
}

// tell sends a reply on a channel with room for it; a nil channel is ignored.
func tell[T any](m *machine, to chan<- T, what T) {
	if to != nil {
		m.do(effect{do: doTell, tell: func() { to <- what }})
	}
}

// kept replies once everything recorded is durable; a nil channel is ignored.
func (m *machine) kept(to chan<- error) {
	if to != nil {
		m.do(effect{do: doKept, seq: m.seq(), reply: to})
	}
}

// expire ends the run because of a limit, a shutdown or the journal.
func (m *machine) expire(cause messages.Code) {
	why := map[messages.Code]string{
		messages.CauseDeadline:           "the run took longer than it may",
		messages.CauseStalled:            "the run made no progress for longer than it may",
		messages.CauseShutdown:           errShutdown.Message,
		messages.CauseNodeLost:           "another node has taken the run over",
		messages.CauseJournalUnavailable: "the journal did not take the run's events for longer than a run waits",
	}[cause]
	if cause == messages.CauseDeadline && m.budgeted && m.left()[unitTime] <= 0 {
		m.fail(m.errSpent(unitTime))
		return
	}
	m.fail(messages.Errorf(cause, "%s", why))
}

// attemptDue handles an attempt that is past its deadline: it has until the soft limit to return, and then counts as
// hung.
func (m *machine) attemptDue(a *attempt) {
	switch m.phase.(type) {
	case *ending, settling: // the attempt has returned, and its children have their own limits
		return
	}
	if a != m.current && a != m.working {
		return
	}
	if a.overdue == nil {
		a.overdue = messages.Errorf(messages.CauseDeadline, "%s took longer than %s", a.task.Name, a.task.Deadline)
		m.do(effect{do: doCancelIt, attempt: a, err: a.overdue})
		m.after(m.soft, &attemptDue{about: a})
		return
	}
	failed := failure(messages.BySupervisor, a.task.Name, a.overdue)
	failed.Cause = m.ledger.Cause(a.task.Name, failed.Cause)
	m.end(failed, failed.Error.Message, failed.Error)
}

// fail ends the run with the error. The cause is the error's code, if that is a cause.
func (m *machine) fail(err error) {
	switch m.phase.(type) {
	case *ending, done:
		return
	}
	failed := failure(author(err), "", err)
	if a := m.current; a != nil && (failed.Cause == messages.CauseStalled || failed.Cause == messages.CauseDeadline) {
		failed.Cause = m.ledger.Cause(a.task.Name, failed.Cause)
	}
	m.end(failed, failed.Error.Message, failed.Error)
}

// failure makes the run.failed of an error.
func failure(by messages.Author, task string, err error) messages.RunFailed {
	d := supervision.Policy{Attempts: 1}.Decide(supervision.Failure{Attempt: 1, Err: err}, 0)
	return messages.RunFailed{By: by, Cause: d.Cause, Task: task, Error: d.Error}
}

// end cancels what runs, and waits for it. Until the soft limit the work may end by itself; until the hard limit its
// actors are stopped; after that it is abandoned. It always waits for children.
func (m *machine) end(terminal messages.Body, message string, cause error) {
	w, again := m.phase.(*ending)
	if _, ended := m.phase.(done); ended {
		return
	}
	if !again {
		w = &ending{}
		m.phase = w
	}
	w.terminal, w.message = terminal, message
	m.do(effect{do: doCancel, err: cause})
	if messages.KindOf(terminal) != messages.KindRunCompleted {
		m.cancelChildren()
	}
	if again {
		return
	}
	if m.working != nil {
		m.after(m.soft, &softLimit{})
	}
	m.settle(w)
}

// stop stops the task actors. No further one starts.
func (m *machine) stop(w *ending) {
	if !w.stopped {
		w.stopped = true
		m.do(effect{do: doStop})
	}
}

// settle writes the terminal when nothing of the run is alive.
func (m *machine) settle(w *ending) {
	if m.working != nil && !w.gaveUp {
		if !w.limited {
			w.limited = true
			m.after(m.hard, &hardLimit{})
		}
		return
	}
	m.stop(w)
	switch {
	case m.actors > 0:
		return
	case w.terminal == nil && len(m.children) == 0:
		m.phase = done{}
		m.current = nil
		m.do(effect{do: doHandOver})
		return
	case w.terminal == nil, m.ledger.Fold.OpenChildren() > 0:
		return
	}
	m.phase = done{}
	m.current = nil
	m.ledger.Finish(m.now, w.terminal, w.message)
	m.do(effect{do: doLeave})
}

// abandon gives up what is alive at the hard limit. It settles in a later step, because whoever sees the terminal
// must also see the abandoned work in the counters.
func (m *machine) abandon() {
	w, ok := m.phase.(*ending)
	switch {
	case !ok:
	case w.gaveUp:
		m.settle(w)
	default:
		w.gaveUp = true
		m.do(effect{do: doAbandon})
		m.after(0, &hardLimit{})
	}
}

// author returns who ends a run that failed with the error: the supervisor if an actor or a goroutine crashed, was
// killed or was abandoned, and otherwise the run itself.
func author(err error) messages.Author {
	if supervision.IsCrash(err) {
		return messages.BySupervisor
	}
	return messages.ByRun
}
