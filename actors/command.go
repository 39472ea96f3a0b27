package actors

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"go.uber.org/zap"
)

// applyCommand passes another node's command to a run that this node owns.
func (s *System) applyCommand(c journal.Command) {
	r := s.runs.active(c.Run)
	switch {
	case r == nil:
	case c.Attach:
		r.attachElsewhere()
	case c.Refill != nil && c.Refill.Unit >= 0 && c.Refill.Unit < len(messages.BudgetUnits):
		r.post(&refill{child: c.Refill.Child, unit: c.Refill.Unit, has: c.Refill.Has, pay: func(b messages.Budget) {
			if b != (messages.Budget{}) { // else the run's actor has ended, and another node's may give more
				s.pass(journal.Command{Run: c.Refill.Child, ID: c.ID, Granted: &b})
			}
		}})
	case c.Granted != nil:
		if _, asked := s.refills.LoadAndDelete(c.ID); asked {
			r.post(&refilled{total: *c.Granted})
		}
	case c.Cancel != nil:
		s.sendToRuns(&cancelFor{run: r, cancelRun: cancelRun{id: c.ID, by: c.Cancel.By, reason: c.Cancel.Reason, waiting: c.Waiting}})
	case c.Release != nil:
		r.post(&releaseRun{id: c.ID, by: c.Release.By, reply: make(chan error, 1)})
	case c.Move != nil && c.From != nil:
		s.runs.moveFrom(r, *c.From, *c.Move)
	case c.Say != nil && (c.Revoke || c.Say.Check() == nil && log.Storable(messages.MessageQueued{Said: *c.Say}, "") == nil):
		r.post(&sayRun{said: *c.Say, revoke: c.Revoke, reply: make(chan error, 1)})
	case c.Answer != nil && log.Storable(received(c), "") == nil:
		r.post(&answerInput{id: c.ID, request: c.Answer.Request, value: slices.Clone(c.Answer.Value), principal: c.Answer.Principal,
			reply: make(chan error, 1)})
	}
}

// pass sends a command to the run's owner once.
func (s *System) pass(c journal.Command) {
	var err error
	if s.runs.active(c.Run) != nil { // this node may have claimed the run meanwhile
		s.applyCommand(c)
	} else {
		err = s.journal.Send(s.ctx, c)
	}
	if err != nil {
		s.log.Warn("a command was not sent", zap.String("run", string(c.Run)), zap.Error(err))
	}
}

// command sends a command to the run's owner, repeatedly, until the run's log shows its effect.
func (s *System) command(ctx context.Context, c journal.Command) error {
	c.ID = cmp.Or(c.ID, strings.ToLower(rand.Text()))
	wake := make(log.Wake, 1)
	s.readers.listen(c.Run, wake)
	defer s.readers.unlisten(c.Run, wake)
	late := make(log.Wake, 1)
	again := time.AfterFunc(time.Second, func() { late.Notify() })
	defer again.Stop()
	for ask := true; ; {
		state, err := s.State(ctx, c.Run)
		if over, err := obeyed(c, state, err); over {
			return err
		}
		if why := s.runs.unendable(c.Run); why != nil {
			return why
		}
		if err != nil {
			s.log.Warn("a run cannot be read for a command", zap.String("run", string(c.Run)), zap.Error(err))
		} else if ask {
			s.pass(c)
		}
		select {
		case <-wake:
			ask = false
		case <-late:
			ask = true
			again.Reset(time.Second)
		case <-ctx.Done():
			return messages.Errorf(messages.CodeUnavailable,
				"run %s did not take it in time, but still may: ask again (%v)", c.Run, context.Cause(ctx))
		case <-s.ctx.Done():
			return s.runs.errClosed()
		}
	}
}

// received makes the event of an answer, as far as its giver knows it.
func received(c journal.Command) messages.InputReceived {
	return messages.InputReceived{Request: c.Answer.Request, Value: c.Answer.Value, Principal: c.Answer.Principal, ID: c.ID}
}

// obeyed reports whether the log shows that the command is done or can no longer be done, and the command's error.
func obeyed(c journal.Command, state messages.State, err error) (bool, error) {
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound:
		return true, err
	case err != nil:
		return false, nil
	case c.Cancel != nil && c.Waiting && state.After == "":
		return true, errNotWaiting(c.Run)
	case c.Cancel != nil:
		return state.Canceling || state.Status.IsEnded(), nil
	case c.Move != nil:
		return movedTo(&state, c)
	case c.Release != nil:
		return released(&state)
	case c.Say != nil:
		return told(&state, *c.Say, c.Revoke)
	}
	i := slices.IndexFunc(state.Inputs, func(in messages.Input) bool { return in.Request == c.Answer.Request })
	switch {
	case i >= 0 && state.Inputs[i].Closed && state.Inputs[i].ID == c.ID:
		return true, nil
	case i >= 0 && state.Inputs[i].Closed:
		return true, errAnswered(c.Answer.Request)
	case state.Status.IsEnded():
		return true, errOver(c.Run)
	case i < 0:
		return true, errNotAsked(c.Run, c.Answer.Request)
	}
	return false, nil
}

func errAnswered(request string) error {
	return messages.Errorf(messages.CodeConflict, "%q was answered already", request)
}

func errNotAsked(run messages.RunID, request string) error {
	return messages.Errorf(messages.CodeNotFound, "run %s has not asked %q", run, request)
}

// Cancel asks the run to end. It returns once the cancel is in the run's log, or the run has ended, and may be called
// again. Errors: not_found, unavailable, journal_unavailable.
func (s *System) Cancel(ctx context.Context, id messages.RunID, by, reason string) error {
	return s.cancel(ctx, id, cancelRun{by: messages.Bound(by, mostName), reason: messages.Bound(reason, mostMessage)}, nil)
}

// cancel asks the run to end, at whatever node it is. over is the error if it has ended.
func (s *System) cancel(ctx context.Context, id messages.RunID, c cancelRun, over error) error {
	r := s.runs.active(id)
	if r == nil {
		return s.command(ctx, journal.Command{Run: id, Waiting: c.waiting, Cancel: &journal.CancelCommand{By: c.by, Reason: c.reason}})
	}
	reply := make(chan error, 1)
	c.reply = reply
	s.sendToRuns(&cancelFor{run: r, cancelRun: c})
	return s.replied(ctx, r, reply, over)
}

// Cancel asks the run to end; see [System.Cancel].
func (r *Run) Cancel(ctx context.Context, reason string) error {
	return r.system.Cancel(ctx, r.id, "", reason)
}

// Answer answers a question of the run, and returns once the answer is in the run's log. The value must be JSON that
// fits the question's schema; true and false always fit a confirmation, and no value is null, which declines.
//
// Errors: not_found if the run has not asked, has ended or belongs to another principal; conflict if there is an
// answer already; invalid_input for a value that does not fit; unavailable; journal_unavailable.
func (s *System) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage, principal string) error {
	c := journal.Command{Run: id, ID: strings.ToLower(rand.Text()), Answer: &journal.AnswerCommand{Request: request, Value: bytes.Clone(value), Principal: principal}}
	if len(value) == 0 {
		c.Answer.Value = []byte("null")
	}
	if err := log.Storable(received(c), ""); err != nil {
		return err
	}
	r := s.runs.active(id)
	state, unknown := s.State(ctx, id)
	owner := ""
	if r != nil {
		owner = r.principal
	} else if unknown == nil {
		owner = state.Queued.Principal
	}
	if principal != "" && owner != "" && principal != owner {
		return errNotAsked(id, request)
	}
	open := func(in messages.Input) bool { return in.Request == request && !in.Closed }
	if i := slices.IndexFunc(state.Inputs, open); i >= 0 {
		yesNo := slices.Contains([]string{"true", "false"}, string(c.Answer.Value))
		if in := state.Inputs[i]; in.Kind != messages.InputConfirmation || !yesNo {
			if err := validate.Answer(in.Schema, c.Answer.Value); err != nil {
				return err
			}
		}
	}
	if r == nil {
		return s.command(ctx, c)
	}
	reply := make(chan error, 1)
	r.post(&answerInput{id: c.ID, request: request, value: c.Answer.Value, principal: principal, reply: reply})
	err := s.replied(ctx, r, reply, errOver(id))
	if messages.CodeOf(err) == messages.CodeNotFound { // the log of an ended run knows more
		state, unknown := s.State(ctx, id)
		if over, outcome := obeyed(c, state, unknown); over {
			err = outcome
		}
	}
	return err
}

// answer records an answer. The task gets it once it is durable, and then the caller gets a reply.
func (m *machine) answer(a *answerInput) {
	in, known := m.ledger.Fold.Input(a.request)
	switch {
	case !known:
		tell(m, a.reply, errNotAsked(m.ledger.ID, a.request))
		return
	case in.Closed:
		tell(m, a.reply, errAnswered(a.request))
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
		tell(m, a.reply, err)
		return
	}
	m.whenKept(&answered{request: a.request, value: a.value})
	m.kept(a.reply)
}

// Supersede reports whether the other run has ended. It first cancels that run, and waits for its end, if it belongs
// to the same principal and waits for people at this node.
func (t *TaskContext) Supersede(ctx context.Context, other messages.RunID, reason string) (over bool, err error) {
	s, mine := t.attempt.run.system, t.attempt.run.principal
	if r := s.runs.active(other); r != nil && r.log.Final() == nil {
		if !r.clock.waits.Load() || r.principal != mine {
			return false, nil
		}
		if err := s.Cancel(ctx, other, mine, reason); err != nil {
			return false, err
		}
		_, err := s.readers.wait(ctx, other, nil)
		return err == nil, err
	}
	state, err := s.State(ctx, other)
	return err == nil && state.Status.IsEnded() && state.Queued.Principal == mine, nil
}

func errOver(id messages.RunID) error {
	return messages.Errorf(messages.CodeNotFound, "run %s has ended", id)
}

// replied waits for the run's reply or for the run's end. After the end it returns over.
func (s *System) replied(ctx context.Context, r *activeRun, reply <-chan error, over error) error {
	select {
	case err := <-reply:
		return err
	case <-r.log.AtEnd():
		otherwise := over
		if trouble := r.log.Trouble(); trouble != nil && r.log.Final() == nil {
			otherwise = trouble
		} else if why := r.log.Dropped(); why != nil {
			otherwise = why
		}
		return replied(reply, otherwise)
	case <-ctx.Done():
		return replied(reply, context.Cause(ctx))
	case <-s.stopped:
		return replied(reply, s.runs.errClosed())
	}
}

// replied returns the reply if there is one, even if something else has ended the wait, and otherwise the given
// error.
func replied(reply <-chan error, otherwise error) error {
	select {
	case err := <-reply:
		return err
	default:
		return otherwise
	}
}

// Attach adds a caller to an attached run until ctx is done. The run is cancelled when its last caller leaves, or up
// to 30 s later if another node owns it. Errors: not_found.
func (s *System) Attach(ctx context.Context, id messages.RunID) error {
	if r := s.runs.active(id); r != nil {
		r.attach(ctx)
		return nil
	}
	state, err := s.State(ctx, id)
	if err == nil && !state.Status.IsEnded() && state.Queued.Mode == messages.Attached {
		s.node.Call(&retryCall{s, callerBeat, func() bool { return s.attachElsewhere(ctx, id) }})
	}
	return err
}

// attachElsewhere tells the run's owner that a caller is at this node. It reports whether this need not be repeated.
func (s *System) attachElsewhere(ctx context.Context, id messages.RunID) (over bool) {
	if r := s.runs.active(id); r != nil { // this node has claimed the run meanwhile
		r.attach(ctx)
		return true
	}
	state, err := s.State(ctx, id)
	if ctx.Err() != nil || err == nil && state.Status.IsEnded() {
		return true
	}
	if err := s.journal.Send(ctx, journal.Command{Run: id, Attach: true}); err != nil {
		s.log.Warn("a command was not sent", zap.String("run", string(id)), zap.Error(err))
	}
	return false
}

// askParent asks the parent. If its actor may be at another node, it asks every second for a minute, until the reply.
func (r *activeRun) askParent(ask *refill) {
	if r.parent != nil {
		ask.pay = func(total messages.Budget) { r.post(&refilled{total: total}) }
		r.parent.post(ask)
		return
	}
	id, tries, parent := strings.ToLower(rand.Text()), 0, r.log.State().Queued.Parent
	r.system.refills.Store(id, true)
	r.system.retryUntilDone(func() bool {
		if tries++; tries > 60 || r.cause() != nil {
			if _, waits := r.system.refills.LoadAndDelete(id); waits {
				r.post(&refilled{})
			}
			return true
		}
		_, waits := r.system.refills.Load(id)
		if waits {
			r.system.pass(journal.Command{Run: parent, ID: id, Refill: &journal.RefillCommand{Child: r.id, Unit: ask.unit, Has: ask.has}})
		}
		return !waits
	})
}

// turns returns a run and the other runs that wait in its conversation. Those at other nodes are as their logs say.
func (s *System) turns(ctx context.Context, id messages.RunID) (r *activeRun, elsewhere []*activeRun, err error) {
	if r = s.runs.active(id); r == nil {
		if r, err = s.waiting(ctx, id); err != nil {
			return nil, nil, err
		}
		elsewhere = append(elsewhere, r)
	}
	pending, err := s.List(ctx, messages.Query{Principal: r.principal, Status: []messages.Status{messages.Pending}, Limit: 1000})
	for _, run := range pending {
		if run.RunID == id || s.runs.active(run.RunID) != nil {
			continue
		}
		if other, err := s.waiting(ctx, run.RunID); err == nil && other.isTurn(r.principal, r.job.Conversation) {
			elsewhere = append(elsewhere, other)
		}
	}
	return r, elsewhere, err
}

// waiting returns a run that waits at another node.
func (s *System) waiting(ctx context.Context, id messages.RunID) (*activeRun, error) {
	state, err := s.State(ctx, id)
	if err != nil {
		return nil, err
	}
	job, err := s.makeJob(state.Queued.Job, state.Queued.Input)
	if err == nil && (state.After == "" || state.Canceling || state.Status.IsEnded()) {
		err = errNotWaiting(id)
	}
	r := s.runs.newRun(id, job, *state.Queued, nil)
	r.after, r.queued = state.After, placed(&state)
	r.log.Resume(messages.NewFold(state), journal.Head{Seq: state.Seq})
	return r, err
}

// placed returns the place of a run among those that wait.
func placed(s *messages.State) time.Time {
	if place, err := time.Parse(time.RFC3339Nano, s.Place); err == nil {
		return place
	}
	return s.QueuedAt
}

// moveFrom moves a run that waits here, if it has not been moved since another node read its log.
func (a *activeRuns) moveFrom(r *activeRun, from, to messages.RunMoved) {
	a.mu.Lock()
	defer a.mu.Unlock()
	place, err := time.Parse(time.RFC3339Nano, to.Place)
	if err == nil && !r.counted && r.after == from.After && placeOf(r.queued) == from.Place && log.Storable(to, "") == nil {
		r.after, r.queued = to.After, place
		r.post(&moveRun{moved: to, reply: make(chan error, 1)})
	}
}

// movedTo reports whether the run is at the place of the command, or cannot get there.
func movedTo(s *messages.State, c journal.Command) (over bool, err error) {
	is := func(at *messages.RunMoved) bool { return s.After == at.After && placeOf(placed(s)) == at.Place }
	switch {
	case s.After == "" || s.Canceling || s.Status.IsEnded():
		return true, errNotWaiting(c.Run)
	case is(c.Move):
		return s.HeldAt.IsZero(), nil
	case !is(c.From):
		return true, messages.Errorf(messages.CodeUnavailable, "run %s was moved by somebody else meanwhile: ask again", c.Run)
	}
	return false, nil
}
