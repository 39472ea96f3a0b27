package actors

import (
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// What a machine is told by its tasks about children, and by its children.
type (
	// childWanted is a task's wish for a child. The name is the task's own for it.
	childWanted struct {
		attempt *attempt
		name    string
		job     Job
		options Options
		reply   chan<- birth
	}
	// childNamed: child.started is durable.
	childNamed aboutChild
	// childUnborn: child.started will not be durable here, because another node has the run.
	childUnborn aboutChild
	childOver   struct {
		supervision.NoDeadLetterLog
		id     messages.RunID
		status messages.Status
		cause  messages.Cause
	}
	// childWaits says whether a child waits for people.
	childWaits struct {
		supervision.NoDeadLetterLog
		id    messages.RunID
		waits bool
	}
)

// birth is what comes of a wish for a child.
type birth struct {
	id  messages.RunID
	err error
}

// offspring is a child that has not ended.
type offspring struct {
	id      messages.RunID
	name    string
	task    string
	job     Job
	options Options
	reply   chan<- birth
	attempt *attempt // the last that asked for it
	born    bool
	waits   bool // for people
	doomed  bool // it was cancelled, or is to be when it is born
}

// standing says how the run's clocks go.
type standing struct {
	// waits: the run waits for people, and for nothing else: no clock runs.
	waits bool
	// family: a child lives: the stall clock stands.
	family bool
}

// stand tells of clocks that go on or stop.
func (m *machine) stand() {
	now := standing{waits: m.waits(), family: m.ledger.fold.OpenChildren() > 0}
	if now != m.standing {
		m.standing = now
		m.do(effect{do: doStand, stand: now})
	}
}

func (m *machine) waits() bool {
	for _, q := range m.questions {
		if len(q.waiting) > 0 {
			return true
		}
	}
	for _, c := range m.children {
		if !c.waits {
			return false
		}
	}
	return len(m.children) > 0
}

// social takes what is about people and children.
func (m *machine) social(message any) {
	switch msg := message.(type) {
	case *asked:
		m.ask(msg)
	case *unasked:
		m.unask(msg)
	case *answerInput:
		m.answer(msg)
	case *answered:
		m.deliver(msg.request, answer{value: msg.value})
	case *answerDue:
		for request, q := range m.questions {
			if q == msg.question {
				m.deliver(request, answer{err: errUnanswered(request)})
			}
		}
	case *committed:
		m.kept(msg.reply)
	case *childWanted:
		m.want(msg)
	case *childNamed:
		m.bear(msg.child)
	case *childUnborn:
		msg.child.reply <- birth{err: errEnding}
		m.childOver(&childOver{id: msg.child.id, status: messages.Canceled, cause: messages.CauseCanceledByUser})
	case *childOver:
		m.childOver(msg)
	case *childWaits:
		if c := m.children[msg.id]; c != nil {
			c.waits = msg.waits
		}
	}
}

// want names a child in the log, or finds the one that an earlier attempt has named so.
func (m *machine) want(w *childWanted) {
	if _, ending := m.phase.(*winding); w.attempt != m.current || ending {
		w.reply <- birth{err: errSilenced}
		return
	}
	task := w.attempt.task.Name
	name := task + "\x00" + w.name
	if id, known := m.named[name]; known {
		if open := m.children[id]; open != nil {
			open.attempt = w.attempt
		}
		w.reply <- birth{id: id}
		return
	}
	c := &offspring{id: childID(m.ledger.id, len(m.ledger.fold.Look().Children)+1), name: w.name, task: task,
		job: w.job, options: w.options, reply: w.reply, attempt: w.attempt}
	started := messages.ChildStarted{Child: c.id, Job: w.job.Name, Task: task, Name: w.name}
	if err := m.record(started, w.job.Name+" started as a child"); err != nil {
		w.reply <- birth{err: err}
		return
	}
	if m.children == nil {
		m.children, m.named = map[messages.RunID]*offspring{}, map[string]messages.RunID{}
	}
	m.children[c.id], m.named[name] = c, c.id
	m.whenKept(&childNamed{child: c})
}

// bear starts a child that the log names. One that is doomed already is never born, and its log says so.
func (m *machine) bear(c *offspring) {
	c.born = true
	if c.doomed {
		m.do(effect{do: doStillborn, child: c})
		c.reply <- birth{err: errEnding}
		return
	}
	m.do(effect{do: doBear, child: c})
}

func (m *machine) cancelChildren() {
	for _, id := range m.brood() {
		m.doom(m.children[id])
	}
}

// brood returns the children that have not ended, in an order that the seed of a simulation repeats.
func (m *machine) brood() []messages.RunID {
	if len(m.children) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m.children))
}

func (m *machine) doom(c *offspring) {
	if c.born && !c.doomed {
		m.do(effect{do: doCancelChild, child: c})
	}
	c.doomed = true
}

// dismiss cancels the children of the attempt's task that the attempt has not asked for.
func (m *machine) dismiss(a *attempt) {
	for _, id := range m.brood() {
		if c := m.children[id]; c.task == a.task.Name && c.attempt != a {
			m.doom(c)
		}
	}
}

// unasked reports whether such a child has not ended.
func (m *machine) unasked(a *attempt) bool {
	for _, c := range m.children {
		if c.task == a.task.Name && c.attempt != a {
			return true
		}
	}
	return false
}

// childOver takes a child's end down, which its own log has already.
func (m *machine) childOver(o *childOver) {
	if m.children[o.id] == nil {
		return
	}
	delete(m.children, o.id)
	_ = m.record(messages.ChildEnded{Child: o.id, Status: o.status, Cause: o.cause}, "child "+string(o.status))
	switch p := m.phase.(type) {
	case settling:
		m.completed(p.done)
	case finishing:
		m.finish()
	case *winding:
		m.settle(p)
	}
}
