package actors

import (
	"encoding/json"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// What people tell a machine, and what its tasks tell it about questions.
type (
	// question is asked by a task. reply gets the answer, or why there is none.
	question struct {
		supervision.NoDeadLetterLog
		attempt *attempt
		body    messages.InputRequired
		reply   chan answer
	}
	// stopWaiting: the task no longer waits. The question stays open.
	stopWaiting struct {
		supervision.NoDeadLetterLog
		request string
		reply   chan answer
	}
	// answerInput is somebody's answer, in the command of the id.
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
	answerDue struct {
		supervision.NoDeadLetterLog
		question *openQuestion
	}
	// commitRequest is answered when everything emitted so far is durable.
	commitRequest struct {
		attempt *attempt
		reply   chan<- error
	}
)

// answer answers a question: with a value, or with the reason why there is none.
type answer struct {
	value json.RawMessage
	err   error
}

// openQuestion is a question that the run has asked people.
type openQuestion struct {
	due     time.Time
	waiting []chan answer
	secret  json.RawMessage // the value of a secret, which the log does not hold
}

func errUnanswered(request string) error {
	return messages.Errorf(messages.Code(messages.CauseDeadline), "nobody answered %q in time", request)
}

// ask puts a question to people, or finds its answer in the log: whatever attempt asks by the same name asks the same
// question.
func (m *machine) ask(a *question) {
	name, task := a.body.Request, a.attempt.task.Name
	if _, ending := m.phase.(*ending); a.attempt != m.current || ending {
		m.deliverTo(a.reply, answer{err: errSilenced})
		return
	}
	in, known := m.ledger.fold.Input(name)
	q := m.questions[name]
	switch {
	case known && in.Task != task:
		m.deliverTo(a.reply, answer{err: messages.Errorf(messages.CodeConflict, "task %s has asked %q; use another name", in.Task, name)})
		return
	case known && in.Closed && in.Kind != messages.InputSecret:
		m.whenKept(&delivery{to: a.reply, answer: answer{value: in.Value}})
		return
	case known && in.Closed && q != nil && q.secret != nil:
		m.whenKept(&delivery{to: a.reply, answer: answer{value: q.secret}})
		return
	case (!known || in.Closed) && m.ledger.fold.OpenInputs() >= mostQuestions:
		m.deliverTo(a.reply, answer{err: messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"the run has %d questions that nobody has answered: wait for an answer", mostQuestions)})
		return
	case !known || in.Closed:
		if err := m.record(messages.Owned(a.body, task), a.body.Prompt); err != nil {
			m.deliverTo(a.reply, answer{err: err})
			return
		}
		q = nil
	}
	if q == nil {
		in, _ = m.ledger.fold.Input(name)
		q = m.question(in)
	}
	if !m.now.Before(q.due) {
		m.deliverTo(a.reply, answer{err: errUnanswered(name)})
		return
	}
	q.waiting = append(q.waiting, a.reply)
}

// delivery sends an answer to a task.
type delivery struct {
	supervision.NoDeadLetterLog
	to     chan answer
	answer answer
}

func (m *machine) deliverTo(to chan answer, a answer) {
	m.do(effect{do: doDeliver, message: &delivery{to: to, answer: a}})
}

// mostQuestions bounds the open questions of a run: a list of runs shows them.
const mostQuestions = 1000

// question waits for the answer until the time that the log says, whichever node has asked.
func (m *machine) question(in messages.Input) *openQuestion {
	q := &openQuestion{due: in.Due()}
	if m.questions == nil {
		m.questions = map[string]*openQuestion{}
	}
	m.questions[in.Request] = q
	m.after(q.due.Sub(m.now), &answerDue{question: q})
	return q
}

func (m *machine) stopWaiting(u *stopWaiting) {
	q := m.questions[u.request]
	if q == nil {
		return
	}
	for i, c := range q.waiting {
		if c == u.reply {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
		}
	}
}

// answer records an answer. The task gets it once it is durable, and the caller hears of it then.
func (m *machine) answer(a *answerInput) {
	in, known := m.ledger.fold.Input(a.request)
	switch {
	case !known:
		m.reply(a.reply, errNotAsked(m.ledger.id, a.request))
		return
	case in.Closed:
		m.reply(a.reply, errAnswered(a.request))
		return
	}
	received := messages.InputReceived{Request: a.request, Task: in.Task, Value: a.value, Principal: a.principal, ID: a.id}
	if in.Kind == messages.InputSecret {
		received.Value = nil
		q := m.questions[a.request]
		if q == nil {
			q = m.question(in)
		}
		q.secret = a.value
	}
	if err := m.record(received, "answer received"); err != nil {
		m.reply(a.reply, err)
		return
	}
	m.whenKept(&answered{request: a.request, value: a.value})
	m.kept(a.reply)
}

// deliver answers everybody who waits for the question.
func (m *machine) deliver(request string, a answer) {
	q := m.questions[request]
	if q == nil {
		return
	}
	for _, to := range q.waiting {
		m.deliverTo(to, a)
	}
	q.waiting = nil
	if a.err == nil && q.secret == nil {
		delete(m.questions, request)
	}
}
