package actors

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Messages about messages, to a machine.
type (
	// sayRun says something to the run or, with revoke, takes that back.
	sayRun struct {
		supervision.NoDeadLetterLog
		said   messages.Said
		revoke bool
		reply  chan<- error
	}
	// saidDurably: the log durably has an interrupt.
	saidDurably notice[messages.Said]
	// takeMessages is an attempt's request for the open messages.
	takeMessages struct {
		attempt *attempt
		at      string
		one     bool // only the oldest
		reply   chan answer
	}
)

// ErrInterrupted is the cause of a context of [TaskContext.Interruptible] that a message has ended.
var ErrInterrupted = messages.Errorf(messages.CauseCanceledByUser, "a message to the run interrupted it")

// told reports whether the log already answers who says something or takes it back, and how.
func told(s *messages.State, msg messages.Said, revoke bool) (over bool, err error) {
	is, known := saidAs(s, msg.Message)
	switch {
	case revoke && !known:
		return true, messages.Errorf(messages.CodeNotFound, "run %s has no message %q", s.RunID, msg.Message)
	case revoke && is.At != "":
		return true, messages.Errorf(messages.CodeConflict, "the run has the message %q already, at %s; say something else", msg.Message, is.At)
	case revoke:
		return is.Dropped != "", nil
	case known:
		if is.Content == msg.Content && is.Mode == msg.Mode && is.Principal == msg.Principal {
			return true, nil
		}
		return true, messages.Errorf(messages.CodeConflict, "the message %q says something else already; use another id", msg.Message)
	case s.Status.IsEnded() || s.Canceling:
		return true, errTakesNone(s.RunID)
	}
	open := 0
	for _, m := range s.Messages {
		if m.IsOpen() {
			open++
		}
	}
	if open >= messages.MostMessages {
		return true, messages.LimitExceeded("run %s has %d messages that it has not taken; wait, or take one back", s.RunID, open)
	}
	return false, nil
}

func errTakesNone(id messages.RunID) error {
	return messages.Errorf(messages.CodeConflict, "run %s has ended or is ending, and takes no message; start another", id)
}

// say records a message, or that its sender took it back, once.
func (m *machine) say(s *sayRun) {
	over, err := told(m.ledger.Fold.Peek(), s.said, s.revoke)
	if w, ending := m.phase.(*ending); !over && !s.revoke && ending {
		over, err = true, errTakesNone(m.ledger.ID)
		if w.terminal == nil {
			err = messages.Errorf(messages.CodeUnavailable, "run %s goes to another node; say it again", m.ledger.ID)
		}
	}
	switch {
	case over:
	case s.revoke:
		err = m.record(messages.MessageDropped{Message: s.said.Message, Reason: messages.DropRevoked}, "the message was taken back")
	default:
		err = m.record(messages.MessageQueued{Said: s.said}, cmp.Or(s.said.Principal, "somebody")+" said something")
		if err == nil && s.said.Mode == messages.Interrupt {
			m.whenKept(&saidDurably{about: s.said})
		}
	}
	if err != nil {
		tell(m, s.reply, err)
		return
	}
	m.kept(s.reply)
}

// interrupt ends the model's answer, and declines what the run asks, unless the message was taken meanwhile.
func (m *machine) interrupt(msg messages.Said) {
	if now, _ := m.ledger.Fold.Message(msg.Message); !now.IsOpen() || m.current == nil {
		return
	}
	for _, in := range m.ledger.Fold.Peek().Inputs {
		if !in.Closed {
			m.answer(&answerInput{request: in.Request, value: []byte("null"), principal: msg.Principal})
		}
	}
	m.do(effect{do: doInterrupt, attempt: m.current})
}

// hear delivers the open messages to the attempt, in their order, once that is durable.
func (m *machine) hear(h *takeMessages) {
	if _, ending := m.phase.(*ending); h.attempt != m.current || ending {
		tell(m, h.reply, answer{err: errSilenced})
		return
	}
	var got answer
	for _, msg := range slices.Clone(m.ledger.Fold.Peek().Messages) {
		if !msg.IsOpen() || h.one && len(got.said) > 0 {
			continue
		}
		msg.At, msg.Task = h.at, h.attempt.task.Name
		body := messages.MessageDelivered{Message: msg.Message, Task: msg.Task, At: msg.At}
		if err := m.record(body, "a message is part of the conversation now"); err != nil {
			tell(m, h.reply, answer{err: err})
			return
		}
		got.said = append(got.said, msg)
	}
	m.whenKept(&delivery{to: h.reply, answer: got})
}

// Messages returns the messages to the run that nobody has taken, in their order, once the log durably says that they
// are delivered. at names where: the next call of a model. From then on they are part of what the run knows: a later
// attempt finds them in [TaskContext.Earlier]. The job needs JobSpec.Messages; without a message this costs nothing.
func (t *TaskContext) Messages(_ context.Context, at string) ([]messages.Message, error) {
	return t.take(at, false)
}

// Message is [TaskContext.Messages] for the oldest message alone: a list of one, or nil.
func (t *TaskContext) Message(_ context.Context, at string) ([]messages.Message, error) {
	return t.take(at, true)
}

func (t *TaskContext) take(at string, one bool) ([]messages.Message, error) {
	if t.attempt.run.said.Load() == 0 {
		return nil, nil
	}
	reply := make(chan answer, 1)
	if err := t.work.Send(&takeMessages{t.attempt, at, one, reply}); err != nil {
		return nil, err
	}
	select { // a cancel does not end it: the log may have them as delivered
	case got := <-reply:
		return got.said, got.err
	case <-t.attempt.run.log.AtEnd():
		return nil, errSilenced
	}
}

// Heard returns a channel that is closed when the next message comes. Anyone who waits for one asks for the channel first, and then
// for the messages.
func (t *TaskContext) Heard() (heard <-chan struct{}) {
	t.attempt.mu.Lock()
	defer t.attempt.mu.Unlock()
	if t.attempt.heard == nil {
		t.attempt.heard = make(chan struct{})
	}
	return t.attempt.heard
}

// hear wakes whoever waits for a message.
func (a *attempt) hear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heard != nil {
		close(a.heard)
		a.heard = nil
	}
}

// Interruptible returns a context that ends with [ErrInterrupted] when a message interrupts the run, until stop. A task
// has one at a time.
func (t *TaskContext) Interruptible(ctx context.Context) (inner context.Context, stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	_ = t.attempt.setOutcome(func() { t.attempt.interrupt = cancel }) // an attempt that has ended is canceled
	return inner, func() {
		_ = t.attempt.setOutcome(func() { t.attempt.interrupt = nil })
		cancel(nil)
	}
}

// interrupted ends what is interruptible now.
func (a *attempt) interrupted() {
	_ = a.setOutcome(func() {
		if a.interrupt != nil {
			a.interrupt(ErrInterrupted)
		}
	})
}

// Send says something to a run that works. It returns once the message is in the run's log; exactly one of
// message.delivered and message.dropped follows. The same Message with the same content is the same message; without
// one it gets a name. The default mode is a steer.
//
// Errors: not_found; conflict if the run has ended, or the name has other content; invalid_input if the job takes no
// messages; limit_exceeded for more than 32 KiB or 16 open messages; unavailable; journal_unavailable.
func (s *System) Send(ctx context.Context, id messages.RunID, msg messages.Said) (messages.Message, error) {
	msg.Message, msg.Mode = cmp.Or(msg.Message, "m_"+strings.ToLower(rand.Text())), cmp.Or(msg.Mode, messages.Steer)
	if err := cmp.Or(msg.Check(), log.Storable(messages.MessageQueued{Said: msg}, "")); err != nil {
		return messages.Message{}, err
	}
	return s.say(ctx, journal.Command{Run: id, ID: msg.Message, Say: &msg})
}

// Revoke takes a message back that nobody has taken. Errors: not_found; conflict if the run has it; and the errors of Send.
func (s *System) Revoke(ctx context.Context, id messages.RunID, message string) error {
	_, err := s.say(ctx, journal.Command{Run: id, ID: message, Revoke: true, Say: &messages.Said{Message: message}})
	return err
}

// say has the run's owner record a message, or that it was taken back.
func (s *System) say(ctx context.Context, c journal.Command) (messages.Message, error) {
	state, err := s.State(ctx, c.Run)
	over := false
	if err == nil {
		over, err = told(&state, *c.Say, c.Revoke)
	}
	if err != nil || over {
		is, _ := saidAs(&state, c.Say.Message)
		return is, err
	}
	r, d := s.runs.active(c.Run), s.definition(state.Queued.Job)
	takes := d != nil && d.Messages
	if r != nil {
		takes = takes || r.job.Messages
	} else if job, err := s.makeJob(state.Queued.Job, state.Queued.Input); !takes && err == nil {
		takes = job.Messages
	}
	if !takes && !c.Revoke {
		return messages.Message{}, messages.InvalidInput("the job %s takes no messages while it works; wait for the run's end, or cancel it", state.Queued.Job)
	}
	if r == nil {
		err = s.command(ctx, c)
	} else {
		reply := make(chan error, 1)
		r.post(&sayRun{said: *c.Say, revoke: c.Revoke, reply: reply})
		err = s.replied(ctx, r, reply, errTakesNone(c.Run))
	}
	if err == nil {
		state, err = s.State(ctx, c.Run)
	}
	if err != nil {
		return messages.Message{}, err
	}
	is, _ := saidAs(&state, c.Say.Message)
	return is, nil
}

// saidAs returns the message as the log has it, if it has it.
func saidAs(s *messages.State, message string) (is messages.Message, known bool) {
	i := slices.IndexFunc(s.Messages, func(m messages.Message) bool { return m.Message == message })
	if i < 0 {
		return is, false
	}
	return s.Messages[i], true
}

// Send says something to the run; see [System.Send].
func (r *Run) Send(ctx context.Context, msg messages.Said) (messages.Message, error) {
	return r.system.Send(ctx, r.id, msg)
}
