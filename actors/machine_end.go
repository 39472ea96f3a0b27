package actors

import (
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// cancel accepts a cancel: after run.canceling the run can only end as canceled.
func (m *machine) cancel(c *cancelRun) {
	state := m.ledger.fold.Peek()
	if state.Status.IsEnded() || state.Canceling {
		m.kept(c.reply)
		return
	}
	if err := m.record(messages.RunCanceling{By: c.by, Reason: c.reason, ID: c.id}, "canceling"); err != nil {
		m.reply(c.reply, err)
		return
	}
	m.kept(c.reply)
	m.end(messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser}, "canceled", errCanceled)
}

func (m *machine) reply(to chan<- error, err error) {
	if to != nil {
		m.do(effect{do: doReply, reply: to, err: err})
	}
}

// kept answers when everything recorded is durable.
func (m *machine) kept(to chan<- error) {
	if to != nil {
		m.do(effect{do: doKept, seq: m.seq(), reply: to})
	}
}

func (m *machine) expire(cause messages.Cause) {
	why := map[messages.Cause]string{
		messages.CauseDeadline:           "the run took longer than it may",
		messages.CauseStalled:            "the run made no progress for longer than it may",
		messages.CauseShutdown:           errShutdown.Message,
		messages.CauseNodeLost:           "another node has taken the run over",
		messages.CauseJournalUnavailable: "the journal did not take the run's events for longer than a run waits",
	}[cause]
	m.fail(messages.Errorf(messages.Code(cause), "%s", why))
}

// fail ends the run with the error. The error's code is the cause, if there is such a cause.
func (m *machine) fail(err error) {
	switch m.phase.(type) {
	case *ending, done:
		return
	}
	failed := failure(author(err), "", err)
	if a := m.current; a != nil && (failed.Cause == messages.CauseStalled || failed.Cause == messages.CauseDeadline) {
		failed.Cause = m.ledger.cause(a.task.Name, failed.Cause)
	}
	m.end(failed, failed.Error.Message, failed.Error)
}

// failure makes the run.failed of an error.
func failure(by messages.Author, task string, err error) messages.RunFailed {
	d := supervision.Policy{Attempts: 1}.Decide(supervision.Failure{Attempt: 1, Err: err}, 0)
	return messages.RunFailed{By: by, Cause: d.Cause, Task: task, Error: d.Error}
}

// end cancels what runs and waits for it: until the soft limit for the work to end by itself, until the hard limit
// without its actors, and then no longer. It always waits for children.
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
	if terminal.Kind() != messages.KindRunCompleted {
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

// stop stops the tasks' actors. No further one starts.
func (m *machine) stop(w *ending) {
	if !w.stopped {
		w.stopped = true
		m.do(effect{do: doStop})
	}
}

// settle writes the terminal when nothing of the run is alive any more.
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
	case w.terminal == nil, m.ledger.fold.OpenChildren() > 0:
		return
	}
	m.phase = done{}
	m.current = nil
	m.ledger.finish(m.now, w.terminal, w.message)
	m.do(effect{do: doLeave})
}

// abandon gives up what the hard limit found alive, and settles in a later step: whoever sees the terminal must also
// see the abandoned work in the counters.
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
