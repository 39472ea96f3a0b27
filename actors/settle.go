package actors

import (
	"context"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// Reasons why a run has no actor that could end it.
var (
	errNodeLost     = messages.Errorf(messages.CauseNodeLost, "the node that ran it is gone")
	errParentEnded  = messages.Errorf(messages.CauseError, "the actor of the parent run ended")
	errActorKilled  = messages.Errorf(messages.CauseError, "the run's actor was stopped from outside")
	errHandedOver   = messages.Errorf(messages.CodeUnavailable, "the node shut down; another goes on with the run")
	errUnresponsive = messages.Errorf(messages.CauseStalled,
		"the run's actor did not answer and was abandoned")
)

// settle ends a run without an actor: first its work and its children, then the run itself. It returns at once.
func (s *System) settle(r *activeRun, why error) {
	switch {
	case errors.Is(why, supervision.ErrAbandoned):
		why = errUnresponsive
	case why == nil || errors.Is(why, supervision.ErrKilled):
		why = errActorKilled
	}
	s.retryUntilDone(func() bool { return s.settled(r, why) })
}

// settled does the work of settle. It reports false while the end of a child is unknown: call it again.
func (s *System) settled(r *activeRun, why error) bool {
	r.end(errEnding)
	s.stopTasksOf(r)
	s.awaitWork(r)
	for _, c := range r.log.OpenChildren() {
		end, known := s.endOf(r, c)
		if r.log.Dropped() != nil { // another node has the run
			break
		}
		if !known {
			return false
		}
		_ = r.log.Record(time.Now().UTC(), newChildOver(c.Child, end).event(), childEnded(c.Job, c.Child, c.Name, end.Status))
	}
	if !r.log.HasTerminal() && r.log.Dropped() == nil {
		failed := failure(messages.BySupervisor, "", why)
		if why == errNodeLost || r.refused {
			failed.By = messages.ByRecovery
		}
		r.log.With(time.Now().UTC(), func(l *log.Ledger) { failed.Cause = l.Cause("", failed.Cause) })
		r.log.Finish(time.Now().UTC(), failed, failed.Error.Message)
	}
	s.release(r)
	return true
}

// endOf ends a child, wherever it is, and returns its State. A child without a log was never started, and gets a log
// that says so.
func (s *System) endOf(parent *activeRun, c messages.ChildState) (messages.State, bool) {
	child := s.active(c.Child)                  // the child's actor ended together with its parent's
	if child != nil && child.parent == parent { // its actor ended together with its parent's
		kept := s.settled(child, errParentEnded) && s.awaitKept(child)
		return child.log.State(), kept
	}
	if s.unendable(c.Child) != nil {
		return unended, true
	}
	_, err := s.State(s.ctx, c.Child)
	if messages.CodeOf(err) == messages.CodeNotFound {
		child, err := s.writeCanceled(parent, &childRun{id: c.Child, job: Job{Name: c.Job}})
		kept := err == nil && s.awaitKept(child) // nothing is visible before that
		if _, never := errors.AsType[log.Unstorable](child.log.Dropped()); never {
			return messages.State{Status: messages.Canceled}, true
		}
		return child.log.State(), kept
	}
	if err := s.Cancel(s.ctx, c.Child, "", "its parent has ended"); err != nil && s.ctx.Err() != nil {
		return messages.State{}, false
	}
	end, err := s.wait(s.ctx, c.Child, nil)
	return end, err == nil // the next try finds a child that nobody can end
}

// childElsewhere waits for the end of a child that has no parent on this node, and tells the parent.
func (s *System) childElsewhere(parent *activeRun, id messages.RunID) bool {
	if parent.log.Dropped() != nil || parent.leaving.Load() {
		return true
	}
	end, err := s.wait(s.ctx, id, nil)
	if messages.CodeOf(err) == messages.CodeNotFound && s.active(id) == nil { // it was given up before it had a log
		s.endUnborn(parent, id)
		return true
	}
	if s.unendable(id) != nil {
		end, err = unended, nil
	}
	if err != nil {
		s.log.Warn("waiting for a child", zap.String("run", string(id)), zap.Error(err))
		return s.ctx.Err() != nil
	}
	parent.post(newChildOver(id, end))
	return true
}

// cancelChild cancels a child, wherever it is.
func (s *System) cancelChild(id messages.RunID) {
	const reason = "its parent is ending"
	if child := s.active(id); child != nil {
		s.sendToRuns(&cancelFor{run: child, cancelRun: cancelRun{reason: reason}})
		return
	}
	s.retryUntilDone(func() bool {
		err := s.Cancel(s.ctx, id, "", reason) // whoever waits for the end of a child without a log writes that log
		return err == nil || messages.CodeOf(err) == messages.CodeNotFound || s.ctx.Err() != nil
	})
}

// newChildOver describes a child's end, from the child's State.
func newChildOver(child messages.RunID, end messages.State) *childOver {
	o := &childOver{id: child, status: end.Status, waited: end.Waited(end.UpdatedAt)}
	if end.End != nil {
		o.cause = end.End.Cause
	}
	return o
}

func (o *childOver) event() messages.ChildEnded {
	return messages.ChildEnded{Child: o.id, Status: o.status, Cause: o.cause, WaitedMS: o.waited.Milliseconds()}
}

// retryUntilDone calls f on a goroutine of its own. If f returns false or crashes, it calls f again a second later.
func (s *System) retryUntilDone(f func() bool) { s.node.Call(&retryCall{s, loopPause, f}) }

// retryCall is a call that is repeated after a pause until f returns true.
type retryCall struct {
	system *System
	pause  time.Duration
	f      func() bool
}

func (w *retryCall) Work() {
	if !w.f() {
		w.system.afterPause(w.pause, func() { w.system.node.Call(w) })
	}
}

func (w *retryCall) Crashed(crash *supervision.Crash) {
	w.system.log.Error("a call crashed and is made again", zap.Error(crash), zap.ByteString("stack", crash.Stack))
	w.system.afterPause(w.pause, func() { w.system.node.Call(w) })
}

// awaitWork waits until no work of the run is left. At the hard limit it abandons the rest.
func (s *System) awaitWork(r *activeRun) {
	a := r.working()
	if a == nil {
		return
	}
	over, ended := context.WithCancel(context.Background())
	a.work.Load().OnEnd(ended)
	if supervision.Sleep(over, s.config.CancelHard); over.Err() == nil {
		a.work.Load().Abandon()
	}
}

// awaitKept waits until all of the run's events are in the journal. It reports false if nobody will know.
func (s *System) awaitKept(r *activeRun) bool {
	for {
		kept := make(chan error, 1)
		r.log.WhenDurable(0, func(err error) { kept <- err })
		if err := <-kept; err == nil {
			return true
		}
		if r.log.Dropped() != nil || s.ctx.Err() != nil {
			return false
		}
		supervision.Sleep(s.ctx, loopPause) // the journal does not take the run's events now
	}
}

// stopTasksOf stops the task actors of a run whose actor has ended, because an abandoned actor does not stop its
// children.
func (s *System) stopTasksOf(r *activeRun) {
	for _, t := range r.job.Tasks {
		pid := s.PID(r.id, t.Name)
		if !s.node.Alive(pid) {
			continue
		}
		s.node.Root().Stop(pid)
		time.AfterFunc(s.config.CancelHard, func() { s.node.Abandon(nil, pid) })
	}
}

// handOver forgets a run that its actor has left for another node, once everything recorded is durable. Close then
// returns the run's claim.
func (s *System) handOver(r *activeRun) {
	r.log.WhenDurable(0, func(err error) {
		if err != nil && r.log.Dropped() == nil {
			s.afterPause(loopPause, func() { s.handOver(r) }) // the journal does not take it now
			return
		}
		if err == nil { // a node that lost the run does not return its claim
			s.returnAtClose(r.lent())
		}
		r.log.Drop(errHandedOver)
		if !s.forget(r) {
			return
		}
		r.detach()
		s.counts.ended.Add(1)
		if r.parent != nil {
			s.sendToRuns(&forgetRun{about: r})
			r.parent.post(&childLeft{about: r.id})
		}
	})
}

// returnAtClose has Close return the claim. Before the node stops claiming, it would get the run again.
func (s *System) returnAtClose(c journal.Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimsToReturn = append(s.claimsToReturn, c)
}

// returnClaims returns the claims of the runs that another node may start again.
func (s *System) returnClaims() {
	s.mu.Lock()
	claims := s.claimsToReturn
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), log.ReadTimeout)
	defer cancel()
	for _, c := range claims {
		if err := s.guarded(func() error { return s.journal.Keep(ctx, c, journal.Released) }); err != nil {
			s.log.Warn("claim", zap.String("run", string(c.Run)), zap.Error(err))
		}
	}
}

// takeOver ends a run that its node has left. Without children a single event does it. Otherwise run.recovered comes
// first, then the ends of the children, then the terminal. The first event takes ownership, and spans every number
// that a reader may have seen.
func (s *System) takeOver(r *activeRun, why *messages.Error) {
	now := time.Now().UTC()
	if len(r.log.OpenChildren()) > 0 {
		r.log.With(now, func(l *log.Ledger) {
			_ = l.Recover(now, "recovered", func(rewind *messages.Rewind) messages.Body {
				return messages.RunRecovered{Node: s.config.Node, Epoch: l.Epoch, Rewind: rewind}
			})
		})
		s.settle(r, why)
		return
	}
	var err error
	r.log.With(now, func(l *log.Ledger) {
		err = l.Recover(now, why.Message, func(rewind *messages.Rewind) messages.Body {
			failed := failure(messages.ByRecovery, "", why)
			failed.Rewind = rewind
			return l.Fold.Peek().Terminal(failed)
		})
	})
	if err != nil {
		s.excludeRun(r.id, err)
		s.forget(r)
		return
	}
	s.release(r)
}

// handleLost handles a run whose live log was dropped, because another node owns it or because the journal refuses its
// events for good.
func (s *System) handleLost(r *activeRun) {
	refused, never := errors.AsType[log.Unstorable](r.log.Dropped())
	if never && r.log.Durable() > 0 {
		s.retryUntilDone(func() bool { return s.endRefused(r, refused) })
		return
	}
	s.counts.ended.Add(1)
	switch {
	case r.parent == nil:
	case never && r.log.HasTerminal(): // this child's log cannot be written at all
		s.log.Error("a sub-run has no log", zap.String("run", string(r.id)), zap.Error(refused))
		r.parent.post(&childOver{id: r.id, status: messages.Canceled, cause: messages.CauseJournalUnavailable})
	default:
		if r.log.HasTerminal() { // it was to be written as cancelled, but had been started after all
			s.cancelChild(r.id)
		}
		s.retryUntilDone(func() bool { return s.childElsewhere(r.parent, r.id) })
	}
}

// endRefused ends a run whose last block the journal refuses for good. It drops the refused events, and the terminal
// follows the last durable event. If that is refused too, nobody can end the run.
func (s *System) endRefused(old *activeRun, why log.Unstorable) bool {
	if old.refused {
		s.excludeRun(old.id, why)
		s.relay.notify(old.id)
		if old.parent != nil {
			old.parent.post(newChildOver(old.id, unended))
		}
		return true
	}
	fold, head, err := s.foldLog(s.ctx, old.id)
	switch {
	case err != nil:
		return s.ctx.Err() != nil
	case head.Ended:
		s.counts.ended.Add(1)
		if old.parent != nil {
			old.parent.post(newChildOver(old.id, fold.State()))
		}
		return true
	}
	r := s.newRun(old.id, old.job, *fold.Peek().Queued, old.parent)
	r.claim, r.refused = old.lent(), true
	r.log.Resume(fold, head)
	s.mu.Lock()
	s.enlist(r)
	s.mu.Unlock()
	s.takeOver(r, why.Why)
	return true
}

// unended stands for the end of a child that nobody can end.
var unended = messages.State{Status: messages.Failed, End: &messages.End{Cause: messages.CauseJournalUnavailable}}

// unendable returns why nobody can end the run, or nil: the journal has refused its terminal for good.
func (s *System) unendable(id messages.RunID) error {
	if why, never := errors.AsType[log.Unstorable](locked(&s.mu, func() error { return s.broken[id] })); never {
		return why
	}
	return nil
}

// endUnborn writes the log of a child that has none, and so tells the parent of its end.
func (s *System) endUnborn(parent *activeRun, id messages.RunID) {
	name := "child"
	for _, c := range parent.log.OpenChildren() {
		if c.Child == id {
			name = c.Job
		}
	}
	if _, err := s.writeCanceled(parent, &childRun{id: id, job: Job{Name: name}}); err != nil {
		parent.post(&childOver{id: id, status: messages.Canceled, cause: messages.CauseCanceledByUser})
	}
}
