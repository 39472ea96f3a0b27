package actors

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Messages from tasks to a machine about children, and messages from children.
type (
	// childWanted is a task's request for a child. name is the task's own name for it.
	childWanted struct {
		attempt *attempt
		name    string
		job     Job
		queued  messages.RunQueued
		reply   chan<- childStart
	}
	// childRecorded: child.started is durable.
	childRecorded notice[*childRun]
	// childNotStarted: child.started will not become durable here, because another node owns the run.
	childNotStarted notice[*childRun]
	childOver       struct {
		supervision.NoDeadLetterLog
		id     messages.RunID
		status messages.Status
		cause  messages.Code
		waited time.Duration // for people, in total

		spent, added messages.Budget
		estimated    bool
	}
	// childLeft: the child was handed over to another node.
	childLeft notice[messages.RunID]
	// childWaits says whether a child waits for people.
	childWaits struct {
		supervision.NoDeadLetterLog
		id    messages.RunID
		waits bool
	}
)

// childStart replies to a request for a child.
type childStart struct {
	id  messages.RunID
	run *activeRun // nil unless this node started it just now
	err error
}

// childRun is a child that has not ended. Only the machine touches it.
type childRun struct {
	id       messages.RunID
	name     string
	task     string
	job      Job
	queued   messages.RunQueued
	own      messages.Budget // the budget that its starter has set
	reply    chan<- childStart
	attempt  *attempt // the last attempt that asked for it
	started  bool
	here     bool // this node started it
	unborn   bool // the log of a restarted run names it, but it has no log
	waits    bool // for people
	canceled bool // it was cancelled, or will be once it starts
}

// clockState says which of the run's clocks stand still.
type clockState struct {
	// waits: the run waits for people and for nothing else. Both clocks stand still.
	waits bool
	// children: a child is alive. The stall clock stands still.
	children bool
}

// updateClocks pauses or resumes the run's clocks if that has changed.
func (m *machine) updateClocks() {
	now := clockState{waits: m.waits(), children: m.ledger.Fold.OpenChildren() > 0}
	if now != m.clocks {
		m.clocks = now
		m.do(effect{do: doClocks, clocks: now})
	}
}

// waits reports whether the run waits for people or its turn: a task waits for an answer, or all its children wait.
func (m *machine) waits() bool {
	if _, ok := m.phase.(queuing); ok {
		return true
	}
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

// questionOrChild handles messages about questions, what people say, and children.
func (m *machine) questionOrChild(message any) {
	switch msg := message.(type) {
	case *question:
		m.ask(msg)
	case *stopWaiting:
		m.stopWaiting(msg)
	case *answerInput:
		m.answer(msg)
	case *answered:
		m.deliver(msg.request, answer{value: msg.value})
	case *answerDue:
		for request, q := range m.questions {
			if q == msg.about {
				m.deliver(request, answer{err: errUnanswered(request)})
			}
		}
	case *commitRequest:
		m.kept(msg.reply)
	case *sayRun:
		m.say(msg)
	case *saidDurably:
		m.interrupt(msg.about)
	case *takeMessages:
		m.hear(msg)
	case *turnOver:
		m.turnOver(msg)
	case *releaseRun:
		m.release(msg)
	case *moveRun:
		m.move(msg)
	case *heldDue:
		m.heldDue()
	case *childWanted:
		m.wantChild(msg)
	case *childRecorded:
		m.startChild(msg.about)
	case *childNotStarted:
		tell(m, msg.about.reply, childStart{err: errEnding})
		m.childOver(&childOver{id: msg.about.id, status: messages.Canceled, cause: messages.CauseCanceledByUser})
	case *refill:
		m.refill(msg)
	case *refilled:
		m.refilled(msg)
	case *paid:
		m.do(effect{do: doTell, tell: msg.pay})
	case *childOver:
		m.childOver(msg)
	case *childLeft:
		m.childLeft(msg.about)
	case *childWaits:
		if c := m.children[msg.id]; c != nil {
			c.waits = msg.waits
		}
	}
}

// wantChild records a new child, or finds the child of that name from an earlier attempt.
func (m *machine) wantChild(w *childWanted) {
	if _, ending := m.phase.(*ending); w.attempt != m.current || ending {
		tell(m, w.reply, childStart{err: errSilenced})
		return
	}
	task := w.attempt.task.Name
	name := task + "\x00" + w.name
	if id, known := m.childIDs[name]; known {
		if was, _ := m.ledger.Fold.Child(id); was.Job != w.job.Name {
			tell(m, w.reply, childStart{err: supervision.Permanent(messages.Errorf(messages.CauseInvalidOutput,
				"the sub-run %q of task %s is of job %s, not %s: give it another Key", w.name, task, was.Job, w.job.Name))})
			return
		}
		open := m.children[id]
		if open != nil {
			open.attempt, open.own = w.attempt, w.queued.Limits.Budget
		}
		if open != nil && open.unborn && !open.canceled {
			open.unborn, open.job, open.queued, open.reply = false, w.job, w.queued, w.reply
			if known, _ := m.ledger.Fold.Child(id); known.Grant != nil {
				open.queued.Limits.Budget, open.queued.Limits.OnBudget = *known.Grant, m.limits().OnBudget
			}
			m.startChild(open)
			return
		}
		tell(m, w.reply, childStart{id: id})
		return
	}
	c := &childRun{id: childID(m.ledger.ID, len(m.ledger.Fold.Peek().Children)+1), name: w.name, task: task,
		job: w.job, queued: w.queued, own: w.queued.Limits.Budget, reply: w.reply, attempt: w.attempt}
	started := messages.ChildStarted{Child: c.id, Job: w.job.Name, Task: task, Name: w.name}
	if m.budgeted {
		var err error
		if started.Grant, err = m.share(c.own); err != nil {
			tell(m, w.reply, childStart{err: err})
			return
		}
		c.queued.Limits.Budget, c.queued.Limits.OnBudget = started.Grant, m.limits().OnBudget
	}
	if err := m.record(started, w.job.Name+" started as "+childName(c.id, c.name)); err != nil {
		tell(m, w.reply, childStart{err: err})
		return
	}
	if m.children == nil {
		m.children, m.childIDs = map[messages.RunID]*childRun{}, map[string]messages.RunID{}
	}
	m.children[c.id], m.childIDs[name] = c, c.id
	m.whenKept(&childRecorded{about: c})
}

// startChild starts a recorded child. If the child was cancelled before, its log says only that.
func (m *machine) startChild(c *childRun) {
	c.started = true
	if c.canceled {
		m.do(effect{do: doWriteCanceled, child: c})
		tell(m, c.reply, childStart{err: errEnding})
		return
	}
	c.here = true
	m.do(effect{do: doStartChild, child: c})
}

func (m *machine) cancelChildren() {
	for _, id := range m.sortedChildren() {
		m.cancelChild(m.children[id])
	}
}

// sortedChildren returns the children that have not ended, sorted so that a simulation can repeat the order.
func (m *machine) sortedChildren() []messages.RunID {
	if len(m.children) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m.children))
}

// cancelChild cancels the child, now or when it starts.
func (m *machine) cancelChild(c *childRun) {
	switch {
	case c.canceled || !c.started:
	case c.unborn:
		m.do(effect{do: doWriteCanceled, child: c})
	default:
		m.do(effect{do: doCancelChild, child: c})
	}
	c.canceled = true
}

// cancelUnclaimed cancels the children of the attempt's task that this attempt did not ask for.
func (m *machine) cancelUnclaimed(a *attempt) {
	for _, id := range m.sortedChildren() {
		if c := m.children[id]; c.task == a.task.Name && c.attempt != a {
			m.cancelChild(c)
		}
	}
}

// hasUnclaimed reports whether the attempt's task has a live child that this attempt did not ask for.
func (m *machine) hasUnclaimed(a *attempt) bool {
	for _, c := range m.children {
		if c.task == a.task.Name && c.attempt != a {
			return true
		}
	}
	return false
}

// childEnded returns the sentence about a child's end.
func childEnded(job string, id messages.RunID, name string, status messages.Status) string {
	return job + " " + childName(id, name) + " " + string(status)
}

// childName returns the child's name for people: its own name, or the last part of its id.
func childName(id messages.RunID, name string) string {
	return cmp.Or(name, string(id[strings.LastIndexByte(string(id), '.')+1:]))
}

// childOver records the end of a child. The child's own log has it already.
func (m *machine) childOver(o *childOver) {
	c := m.children[o.id]
	if c == nil {
		return
	}
	delete(m.children, o.id)
	_ = m.record(o.event(), childEnded(c.job.Name, c.id, c.name, o.status))
	m.warn()
	switch p := m.phase.(type) {
	case settling:
		m.completed(p.done)
	case finishing:
		m.finish()
	case *ending:
		m.settle(p)
	}
}

// Messages from people to a machine, and from its tasks about questions.
type (
	// question is a task's question. reply gets the answer, or the reason why there is none.
	question struct {
		supervision.NoDeadLetterLog
		attempt *attempt
		body    messages.InputRequired
		reply   chan answer
	}
	// stopWaiting: the task no longer waits. The question stays open, unless it was withdrawn.
	stopWaiting struct {
		supervision.NoDeadLetterLog
		request   string
		reply     chan answer
		withdrawn bool
	}
	// answerInput is a person's answer. id is the command's.
	answerInput struct {
		supervision.NoDeadLetterLog
		id, request string
		value       json.RawMessage
		principal   string
		reply       chan<- error
	}
	// answered: the answer is durable.
	answered struct {
		supervision.NoDeadLetterLog
		request string
		value   json.RawMessage
	}
	// answerDue: the question's timeout has passed.
	answerDue notice[*openQuestion]
	// commitRequest gets its reply once everything emitted so far is durable.
	commitRequest struct{ reply chan<- error }
)

// answer is a value or messages to the run, or the reason why there is none.
type answer struct {
	value json.RawMessage
	said  []messages.Message
	err   error
}

// openQuestion is a question to people without an answer yet.
type openQuestion struct {
	due     time.Time
	waiting []chan answer
	secret  json.RawMessage // value of a secret, which the log does not hold
}

func errUnanswered(request string) error {
	return messages.Errorf(messages.CauseDeadline, "nobody answered %q in time", request)
}

// ask puts a question to people, or finds its answer in the log. All attempts that ask by one name ask the same
// question.
func (m *machine) ask(a *question) {
	name, task := a.body.Request, a.attempt.task.Name
	if _, ending := m.phase.(*ending); a.attempt != m.current || ending {
		tell(m, a.reply, answer{err: errSilenced})
		return
	}
	in, known := m.ledger.Fold.Input(name)
	q := m.questions[name]
	switch {
	case known && in.Task != task:
		tell(m, a.reply, answer{err: messages.Errorf(messages.CodeConflict, "task %s has already asked %q; use another name", in.Task, name)})
		return
	case known && in.Closed && in.Kind != messages.InputSecret:
		m.whenKept(&delivery{to: a.reply, answer: answer{value: in.Value}})
		return
	case known && in.Closed && q != nil && q.secret != nil:
		m.whenKept(&delivery{to: a.reply, answer: answer{value: q.secret}})
		return
	case (!known || in.Closed) && m.ledger.Fold.OpenInputs() >= mostQuestions:
		tell(m, a.reply, answer{err: messages.LimitExceeded("the run has %d questions that nobody has answered: wait for an answer", mostQuestions)})
		return
	case !known || in.Closed: // of a secret, the log has the end and not the value: it is asked for again
		if err := m.record(messages.Owned(a.body, task), a.body.Prompt); err != nil {
			tell(m, a.reply, answer{err: err})
			return
		}
		q = nil
	}
	if q == nil {
		in, _ = m.ledger.Fold.Input(name)
		q = m.question(in)
	}
	if !m.now.Before(q.due) {
		tell(m, a.reply, answer{err: errUnanswered(name)})
		return
	}
	q.waiting = append(q.waiting, a.reply)
}

// delivery carries an answer to a waiting task.
type delivery struct {
	supervision.NoDeadLetterLog
	to     chan answer
	answer answer
}

// mostQuestions bounds the open questions of a run, since a list of runs shows them.
const mostQuestions = 1000

// question opens a question until the time in the log, whichever node asked it.
func (m *machine) question(in messages.Input) *openQuestion {
	q := &openQuestion{due: in.Due()}
	if m.questions == nil {
		m.questions = map[string]*openQuestion{}
	}
	m.questions[in.Request] = q
	m.after(q.due.Sub(m.now), &answerDue{about: q})
	return q
}

// stopWaiting removes a task from those that wait for the answer.
func (m *machine) stopWaiting(u *stopWaiting) {
	q := m.questions[u.request]
	if q == nil {
		return
	}
	for i, c := range q.waiting {
		if c == u.reply {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			in, _ := m.ledger.Fold.Input(u.request)
			if _, ending := m.phase.(*ending); u.withdrawn && !ending && !in.Closed && m.record(messages.InputReceived{Request: u.request, Task: in.Task}, "the question was withdrawn") == nil {
				m.whenKept(&answered{request: u.request})
			}
			return
		}
	}
}

// deliver sends the answer to every task that waits for it.
func (m *machine) deliver(request string, a answer) {
	q := m.questions[request]
	if q == nil {
		return
	}
	for _, to := range q.waiting {
		tell(m, to, a)
	}
	q.waiting = nil
	if a.err == nil && q.secret == nil {
		delete(m.questions, request)
	}
}
