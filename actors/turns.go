package actors

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Messages to the machine of a run that waits for its turn.
type (
	// turnOver: the run before it in its conversation has ended.
	turnOver   notice[messages.State]
	releaseRun struct {
		supervision.NoDeadLetterLog
		id, by string
		reply  chan<- error
	}
	heldDue signal
)

// turnOf returns the run that works in the conversation, and the run after which another one would wait, if it would.
// A turn that only waits for people is superseded, unless others wait already. One that is ending is over: whoever starts
// now is not held for its cancel. mu must be held.
func (a *activeRuns) turnOf(principal, conversation string) (working, before *activeRun, err error) {
	if conversation == "" {
		return nil, nil, nil
	}
	waiting := 0
	for _, r := range a.live {
		switch {
		case r.parent != nil || r.principal != principal || r.job.Conversation != conversation || r.cause() != nil || r.log.HasTerminal():
		case !r.counted:
			if waiting++; before == nil || r.queued.After(before.queued) { // the last of those that wait
				before = r
			}
		case !r.clock.waits.Load():
			working = r
		}
	}
	if waiting >= messages.MostWaiting {
		return working, before, messages.LimitExceeded("%d runs wait in the conversation %s; wait for one, or cancel it", waiting, conversation)
	}
	return working, cmp.Or(before, working), nil
}

// begun counts a run that has waited for its turn as active.
func (a *activeRuns) begun(r *activeRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.counted && a.live[r.id] == r {
		a.count1(r)
	}
}

// steer gives the message of a start to the turn that works in its conversation, if the start wants that.
func (s *System) steer(ctx context.Context, q messages.Request, conversation string) (messages.RunID, bool, error) {
	if q.Busy != messages.BusySteer && q.Busy != messages.BusyInterrupt {
		return "", false, nil
	}
	s.runs.mu.Lock()
	working, _, _ := s.runs.turnOf(q.Principal, conversation)
	s.runs.mu.Unlock()
	if working == nil {
		return "", false, nil
	}
	var input map[string]json.RawMessage
	var text string
	_ = json.Unmarshal(q.Input, &input) // the job has read it
	_ = json.Unmarshal(input[s.definition(q.Job).PromptField], &text)
	_, err := s.Send(ctx, working.id, messages.Said{Message: q.Key, Mode: messages.SayMode(q.Busy), Content: text, Principal: q.Principal})
	if messages.CodeOf(err) == messages.CodeConflict {
		state, _ := s.State(ctx, working.id)
		if _, known := saidAs(&state, q.Key); !known { // the turn has ended meanwhile
			return "", false, nil
		}
	}
	return working.id, err == nil, err
}

// followTurn tells the run when the run before it has ended. One that was taken back before it began hands on the run
// before itself.
func (o *owner) followTurn(r *activeRun) bool {
	for before := r.log.State().After; before != ""; {
		end, err := o.readers.wait(o.ctx, before, nil)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound:
			end = messages.State{Status: messages.Completed} // it is forgotten
		case err != nil:
			return o.ctx.Err() != nil || r.log.Dropped() != nil
		case end.Status == messages.Canceled && end.After != "":
			before = end.After
			continue
		}
		r.post(&turnOver{about: end})
		return true
	}
	return true
}

// queue waits for the run before, or for a person if it is held.
func (m *machine) queue() {
	m.phase = queuing{}
	if held := m.ledger.Fold.Peek().HeldAt; !held.IsZero() {
		m.after(held.Add(messages.HeldFor).Sub(m.now), &heldDue{})
		return
	}
	m.do(effect{do: doFollowTurn})
}

// turnOver begins the run if the run before has completed, and otherwise holds it.
func (m *machine) turnOver(t *turnOver) {
	state := m.ledger.Fold.Peek()
	if _, ok := m.phase.(queuing); !ok || !state.HeldAt.IsZero() {
		return
	}
	if t.about.Status != messages.Completed {
		_ = m.record(messages.RunHeld{After: cmp.Or(t.about.RunID, state.After)}, "held: the run before it did not complete")
		m.after(messages.HeldFor, &heldDue{})
		return
	}
	m.do(effect{do: doBegun})
	m.start()
}

// Outlast waits until the other run has ended. over is false if there is no such run of the same principal.
func (t *TaskContext) Outlast(ctx context.Context, other messages.RunID) (over bool, err error) {
	s := t.attempt.run.system
	state, err := s.State(ctx, other)
	if err != nil || state.Queued.Principal != t.attempt.run.principal {
		return false, nil
	}
	_, err = s.readers.wait(ctx, other, nil)
	return err == nil, err
}

// released reports whether a run has been released, or cannot be.
func released(s *messages.State) (over bool, err error) {
	switch {
	case s.After == "" && s.BeganAt.IsZero():
		return true, messages.Errorf(messages.CodeConflict, "run %s was not held", s.RunID)
	case s.After == "":
		return true, nil
	case s.HeldAt.IsZero():
		return true, messages.Errorf(messages.CodeConflict, "run %s waits for %s, and is not held", s.RunID, s.After)
	case s.Canceling || s.Status.IsEnded():
		return true, messages.Errorf(messages.CodeConflict, "run %s has ended or is ending, and cannot begin any more; start another", s.RunID)
	}
	return false, nil
}

// release begins a held run.
func (m *machine) release(r *releaseRun) {
	over, err := released(m.ledger.Fold.Peek())
	if _, ok := m.phase.(queuing); ok && !over {
		if err = m.record(messages.RunReleased{ID: r.id, By: r.by}, "released"); err == nil {
			m.do(effect{do: doBegun})
			m.start()
		}
	}
	if err != nil {
		tell(m, r.reply, err)
		return
	}
	m.kept(r.reply)
}

// heldDue cancels a run that nobody has released.
func (m *machine) heldDue() {
	if _, ok := m.phase.(queuing); ok {
		m.cancel(&cancelRun{reason: "nobody has released it for " + messages.HeldFor.String()})
	}
}

// Release lets a run begin that is held because the run before it in its conversation did not complete. It returns once
// that is in the run's log. Errors: not_found; conflict if it is not held; unavailable; journal_unavailable.
func (s *System) Release(ctx context.Context, id messages.RunID, by string) error {
	by = messages.Bound(by, mostName)
	r := s.runs.active(id)
	if r == nil {
		return s.command(ctx, journal.Command{Run: id, Release: &journal.ReleaseCommand{By: by}})
	}
	reply := make(chan error, 1)
	r.post(&releaseRun{by: by, reply: reply})
	return s.replied(ctx, r, reply, errTakesNone(id))
}
