package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Messages to the machine of a run that waits for its turn.
type (
	// turnOver: the run before it in its conversation has ended. of is the run that the log named when it was followed.
	turnOver struct {
		supervision.NoDeadLetterLog
		about messages.State
		of    messages.RunID
	}
	// moveRun gives a run that waits another place.
	moveRun struct {
		supervision.NoDeadLetterLog
		moved messages.RunMoved
		reply chan<- error
	}
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
		case !r.isTurn(principal, conversation):
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

// isTurn reports whether the run is a turn of the conversation, and neither ended nor ending.
func (r *activeRun) isTurn(principal, conversation string) bool {
	return r.parent == nil && r.principal == principal && r.job.Conversation == conversation && r.cause() == nil && !r.log.HasTerminal()
}

// queue returns the runs that wait in the conversation, also those elsewhere, in their order. mu must be held.
func (a *activeRuns) queue(principal, conversation string, elsewhere []*activeRun) []*activeRun {
	waiting := slices.Clone(elsewhere)
	for _, r := range a.live {
		if !r.counted && r.isTurn(principal, conversation) {
			waiting = append(waiting, r)
		}
	}
	slices.SortFunc(waiting, func(x, y *activeRun) int { return x.queued.Compare(y.queued) })
	return waiting
}

// ahead returns the last run that must end before the waiting one begins: one with an earlier place, or one that works; or
// nil. The log of a run names only the run that was before it when it came, or was moved.
func (a *activeRuns) ahead(of *activeRun) (last *activeRun) {
	if of.job.Conversation == "" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.live {
		before := r.counted && !r.clock.waits.Load() ||
			!r.counted && (r.queued.Before(of.queued) || r.id == of.after && r.queued.Equal(of.queued))
		if before && r != of && r.isTurn(of.principal, of.job.Conversation) && (last == nil || r.queued.After(last.queued)) {
			last = r
		}
	}
	return last
}

// begun counts a run that has waited for its turn as active.
func (a *activeRuns) begun(r *activeRun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.counted && a.live[r.id] == r {
		r.clock.set(time.Since(log.Origin), clockState{})
		a.count1(r)
	}
}

// steer gives the message of a start to the turn that works in its conversation, if the start wants that.
func (s *System) steer(ctx context.Context, q messages.Request, conversation string) (messages.RunID, bool, error) {
	if q.Busy != messages.BusySteer && q.Busy != messages.BusyInterrupt || q.Replaces != "" {
		return "", false, nil
	}
	var input map[string]json.RawMessage
	var text string
	_ = json.Unmarshal(q.Input, &input) // the job has read it
	_ = json.Unmarshal(input[s.definition(q.Job).PromptField], &text)
	msg := messages.Said{Message: q.Key, Mode: messages.SayMode(q.Busy), Content: text, Principal: q.Principal, Door: q.Door, Agent: q.Agent}
	if len(q.Key) > 128 { // the longest name of a message
		msg.Message = string(s.runs.keyed(q.Principal, q.Key))
	}
	if id, known, err := s.steered(ctx, q, msg); known || err != nil {
		return id, id != "", err
	}
	s.runs.mu.Lock()
	working, _, _ := s.runs.turnOf(q.Principal, conversation)
	s.runs.mu.Unlock()
	if working == nil {
		return "", false, nil
	}
	_, err := s.Send(ctx, working.id, msg)
	if messages.CodeOf(err) == messages.CodeConflict {
		state, _ := s.State(ctx, working.id)
		if _, known := saidAs(&state, msg.Message); !known { // the turn has ended meanwhile
			return "", false, nil
		}
	}
	return working.id, err == nil, err
}

// mostSteered bounds the runs among which a repeated start finds the one that it has steered.
const mostSteered = 16

// mostUntold bounds the ended runs that are known to have no message.
const mostUntold = 1 << 12

// steered returns the newest run that has the message of an earlier start with the key. id is "" if that start has begun a run.
func (s *System) steered(ctx context.Context, q messages.Request, msg messages.Said) (id messages.RunID, known bool, err error) {
	if q.Key == "" {
		return "", false, nil
	}
	if _, err := s.State(ctx, s.runs.keyed(q.Principal, q.Key)); messages.CodeOf(err) != messages.CodeNotFound {
		return "", true, err
	}
	runs, err := s.List(ctx, messages.Query{Principal: q.Principal, Job: q.Job, Limit: mostSteered, ByQueued: true})
	for _, run := range runs {
		if at := locked(&s.runs.mu, func() time.Time { return s.runs.untold[run.RunID] }); at.Equal(run.UpdatedAt) {
			continue
		}
		state, err := s.State(ctx, run.RunID)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound: // it has been deleted meanwhile
			continue
		case err != nil:
			return "", false, err
		case state.Status.IsEnded() && len(state.Messages) == 0:
			s.runs.mu.Lock()
			if len(s.runs.untold) >= mostUntold {
				clear(s.runs.untold)
			}
			s.runs.untold[run.RunID] = state.UpdatedAt
			s.runs.mu.Unlock()
			continue
		}
		if _, has := saidAs(&state, msg.Message); has {
			_, err = told(&state, msg, false)
			return run.RunID, true, err
		}
	}
	return "", false, err
}

// followTurn tells the run when the run before it has ended: the last one ahead at this node, or else of, the one that its log
// names, perhaps not durably yet. One that was taken back before it began hands on the run before itself.
func (o *owner) followTurn(r *activeRun, of messages.RunID) bool {
	end, followed := messages.State{}, false
	for before := of; before != ""; {
		switch next := o.runs.ahead(r); {
		case next != nil:
			before = next.id
		case end.Status == messages.Completed && !followed && o.runs.active(of) == nil: // it is at another node
			before = of
		case end.Status != "":
			r.post(&turnOver{about: end, of: of})
			return true
		case o.runs.waits(before): // its place is behind this run's, and the log has not been told
			end.Status = messages.Completed
			continue
		}
		followed = followed || before == of
		var err error
		end, err = o.readers.wait(o.ctx, before, nil)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound:
			end = messages.State{Status: messages.Completed} // it is forgotten
		case err != nil:
			return o.ctx.Err() != nil || r.log.Dropped() != nil
		case end.Status == messages.Canceled && end.After != "":
			before, end = end.After, messages.State{}
		}
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
	m.do(effect{do: doFollowTurn, message: m.ledger.Fold.Peek().After})
}

// turnOver begins the run if the run before has completed, and otherwise holds it.
func (m *machine) turnOver(t *turnOver) {
	state := m.ledger.Fold.Peek()
	if _, ok := m.phase.(queuing); !ok || !state.HeldAt.IsZero() || state.After != t.of {
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
	held := m.ledger.Fold.Peek().HeldAt
	if _, ok := m.phase.(queuing); ok && !held.IsZero() && m.now.Sub(held) >= messages.HeldFor {
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

func errNotWaiting(id messages.RunID) error {
	return messages.Errorf(messages.CodeConflict, "run %s does not wait for its turn; lastword runs ls --status pending lists those that wait", id)
}

// Move gives a run that waits for its turn another place: right before the other one that waits, or with "" the first. It
// returns once that is in the run's log. Errors: not_found; conflict if the run has begun or has ended; invalid_input if
// the other does not wait in its conversation; unavailable, also while somebody else moves them; journal_unavailable.
func (s *System) Move(ctx context.Context, id, before messages.RunID, by string) error {
	r, elsewhere, err := s.turns(ctx, id)
	if err != nil {
		return err
	}
	changed, err := s.runs.place(r, before, elsewhere)
	if err != nil {
		return err
	}
	return s.moved(ctx, changed, r, messages.RunMoved{By: messages.Bound(by, mostName)})
}

// moved writes into the logs what has changed, and who or what did it. It fails if the one run has begun; the others may have.
func (s *System) moved(ctx context.Context, changed map[*activeRun]messages.RunMoved, one *activeRun, cause messages.RunMoved) error {
	replies := map[*activeRun]chan error{}
	for turn, moved := range changed {
		moved.By, moved.Replaces = cause.By, cause.Replaces
		replies[turn] = make(chan error, 1)
		if s.runs.active(turn.id) == turn {
			turn.post(&moveRun{moved: moved, reply: replies[turn]})
			continue
		}
		was := turn.log.State()
		replies[turn] <- s.command(ctx, journal.Command{Run: turn.id, Move: &moved, From: &messages.RunMoved{After: was.After, Place: placeOf(placed(&was))}})
	}
	for turn, reply := range replies {
		err := s.replied(ctx, turn, reply, errNotWaiting(turn.id))
		if err != nil && (turn == one || messages.CodeOf(err) != messages.CodeConflict) {
			return err
		}
	}
	return nil
}

// place gives the run another place. It returns what changes for it, and for those that wait after another run now.
func (a *activeRuns) place(r *activeRun, before messages.RunID, elsewhere []*activeRun) (map[*activeRun]messages.RunMoved, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.counted || !r.isTurn(r.principal, r.job.Conversation) {
		return nil, errNotWaiting(r.id)
	}
	turns := a.queue(r.principal, r.job.Conversation, elsewhere)
	last := turns[0].after
	turns = slices.DeleteFunc(turns, func(o *activeRun) bool { return o == r })
	i := slices.IndexFunc(turns, func(o *activeRun) bool { return before == "" || o.id == before })
	switch {
	case i < 0 && before != "":
		return nil, messages.InvalidInput("run %s does not wait in the conversation of run %s", before, r.id)
	case i > 0:
		r.queued = between(turns[i-1].queued, turns[i].queued)
	case i == 0:
		r.queued = turns[0].queued.Add(-placeGap)
	}
	return relinked(slices.Insert(turns, max(i, 0), r), last, r), nil
}

// relinked lets each of the runs wait for the one before it, the first one for the given run. It returns what changes, and
// that one run was moved.
func relinked(turns []*activeRun, last messages.RunID, moved *activeRun) map[*activeRun]messages.RunMoved {
	changed := map[*activeRun]messages.RunMoved{}
	for _, turn := range turns {
		if turn.after != last || turn == moved {
			turn.after, changed[turn] = last, messages.RunMoved{After: last, Place: placeOf(turn.queued)}
		}
		last = turn.id
	}
	return changed
}

// relink writes into the logs of those that wait with the run which one is before them, where another has come between: who
// recovers them knows no other order. Those that are held follow nobody.
func (s *System) relink(ctx context.Context, r *activeRun, principal string, elsewhere []*activeRun) error {
	s.runs.mu.Lock()
	changed := map[*activeRun]messages.RunMoved{}
	if turns := s.runs.queue(r.principal, r.job.Conversation, elsewhere); len(turns) > 0 {
		changed = relinked(turns, turns[0].after, nil)
	}
	s.runs.mu.Unlock()
	maps.DeleteFunc(changed, func(turn *activeRun, _ messages.RunMoved) bool { return !turn.log.State().HeldAt.IsZero() })
	return s.moved(ctx, changed, nil, messages.RunMoved{By: principal, Replaces: r.id})
}

// waits reports whether the run waits for its turn at this node.
func (a *activeRuns) waits(id messages.RunID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.live[id]
	return r != nil && !r.counted && r.isTurn(r.principal, r.job.Conversation)
}

// placeGap is between the places of runs that wait.
const placeGap = time.Millisecond

func placeOf(queued time.Time) string { return queued.UTC().Format(time.RFC3339Nano) }

func between(a, b time.Time) time.Time { return a.Add(b.Sub(a) / 2) }

// behind returns the place right behind the waiting run. mu must be held.
func (a *activeRuns) behind(r *activeRun, elsewhere []*activeRun) time.Time {
	waiting := a.queue(r.principal, r.job.Conversation, elsewhere)
	if i := slices.Index(waiting, r) + 1; i < len(waiting) {
		return between(r.queued, waiting[i].queued)
	}
	return r.queued.Add(placeGap)
}

// move records the run's new place, and waits anew.
func (m *machine) move(r *moveRun) {
	if _, ok := m.phase.(queuing); !ok {
		tell(m, r.reply, errNotWaiting(m.ledger.ID))
		return
	}
	if err := m.record(r.moved, "moved after "+string(r.moved.After)); err != nil {
		tell(m, r.reply, err)
		return
	}
	m.do(effect{do: doFollowTurn, message: m.ledger.Fold.Peek().After})
	m.kept(r.reply)
}

// takeBack cancels a run that waits, because the other has its place now. If it has begun meanwhile, the other is canceled.
func (s *System) takeBack(ctx context.Context, old, by messages.RunID, principal string) error {
	r, elsewhere, err := s.turns(ctx, old)
	if err == nil {
		err = s.relink(ctx, r, principal, elsewhere)
	}
	if err == nil {
		err = s.cancel(ctx, old, cancelRun{by: principal, reason: "replaced by " + string(by), waiting: true}, errNotWaiting(old))
	}
	if code := messages.CodeOf(err); code != messages.CodeConflict && code != messages.CodeNotFound {
		return err
	}
	state, unknown := s.State(ctx, old)
	if unknown != nil || state.Status == messages.Canceled && state.After != "" { // an earlier try has taken it back
		return nil
	}
	return cmp.Or(s.Cancel(ctx, by, principal, "run "+string(old)+" has begun, and is not replaced"), err)
}
