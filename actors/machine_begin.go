package actors

import (
	"github.com/seed889630bf/lastword/messages"
)

// begin takes ownership: of a run that nobody has started, or of one whose node is gone. Nothing is shown, called or
// emitted before that is durable.
func (m *machine) begin() {
	m.phase = opening{}
	state := m.ledger.fold.Peek()
	switch {
	case state.Canceling:
		m.end(messages.RunCanceled{By: messages.ByNode, Cause: messages.CauseCanceledByUser}, "canceled", errCanceled)
		return
	case state.Status == messages.Pending:
		_ = m.record(messages.RunStarted{Node: m.node, Epoch: m.epoch}, m.job.Name+" started")
	default:
		_ = m.ledger.recover(m.now, m.job.Name+" continues on another node", func(rewind *messages.Rewind) messages.Body {
			return messages.RunRecovered{Node: m.node, Epoch: m.epoch, Rewind: rewind}
		})
		m.adoptChildren()
	}
	m.current, m.next = m.position()
	if m.current != nil {
		m.nextAttempt(m.current)
	}
	m.whenKept(&opened{})
}

// position returns the attempt that follows what the log tells, or nil if every task is done, and the index of the
// task after it.
func (m *machine) position() (*attempt, int) {
	for i, task := range m.job.Tasks {
		switch now, _ := m.ledger.fold.Task(task.Name); now.Status {
		case messages.TaskFinished:
		default:
			return &attempt{task: task, number: now.Attempt + 1}, i + 1
		}
	}
	return nil, len(m.job.Tasks)
}

// opened calls the first attempt: the owning event is durable.
func (m *machine) opened() {
	if _, ok := m.phase.(opening); !ok {
		return
	}
	if m.current == nil {
		m.phase = finishing{}
		m.finish()
		return
	}
	m.phase = attempting{}
	m.call(m.current)
}

// adoptChildren takes note of the children that the log names. Those that have not ended are followed, whoever runs
// them; one that was named and never born waits for the attempt that asks for it again.
func (m *machine) adoptChildren() {
	children := m.ledger.fold.Peek().Children
	if len(children) == 0 {
		return
	}
	m.children, m.named = map[messages.RunID]*childRun{}, map[string]messages.RunID{}
	for _, c := range children {
		m.named[c.Task+"\x00"+c.Name] = c.Child
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

// mostAttempts is the attempt of a task that no recovery begins any more: what ends a node again and again must end
// itself.
const mostAttempts = 10

// canContinue reports whether another node may go on with the run: the job allows it, or the run only waits for people,
// and no task would be called twice that must not be.
func canContinue(job Job, f *messages.Fold) bool {
	state := f.Peek()
	if state.Canceling || state.Status.IsEnded() {
		return false
	}
	known := 0
	resume := job.Resume
	for _, task := range job.Tasks {
		now, started := f.Task(task.Name)
		if !started {
			continue
		}
		known++
		open := now.Status == messages.TaskRunning
		waits := open && asksPeople(state, task.Name)
		switch {
		case now.Status == messages.TaskGaveUp, open && task.Once:
			return false
		case waits:
			resume = true
		case now.Status != messages.TaskFinished && now.Attempt >= mostAttempts:
			return false
		}
	}
	return resume && known == len(state.Tasks) // a log with other tasks is of another version of the job
}

func asksPeople(s *messages.State, task string) bool {
	for _, in := range s.Inputs {
		if in.Task == task && !in.Closed {
			return true
		}
	}
	return false
}

// handOver stops the work of a run that another node may continue, and leaves it without a terminal. A run that
// cannot be continued fails.
func (m *machine) handOver(cause messages.Cause) {
	switch m.phase.(type) {
	case *ending, done:
		return
	}
	if !canContinue(m.job, &m.ledger.fold) {
		m.expire(cause)
		return
	}
	w := &ending{}
	m.phase = w
	for _, id := range m.sortedChildren() {
		switch c := m.children[id]; {
		case c.here:
			m.do(effect{do: doHandOverChild, child: c})
		default: // its parent goes on elsewhere, and finds it there
			delete(m.children, id)
		}
	}
	m.do(effect{do: doCancel, err: errShutdown})
	if m.working != nil {
		m.after(m.soft, &softLimit{})
	}
	m.settle(w)
}

// childLeft: the child was handed over.
func (m *machine) childLeft(id messages.RunID) {
	delete(m.children, id)
	if w, ok := m.phase.(*ending); ok {
		m.settle(w)
	}
}
