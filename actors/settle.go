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
	errParentEnded  = messages.Errorf(messages.CauseError, "the actor of the parent run ended")
	errActorKilled  = messages.Errorf(messages.CauseError, "the run's actor was stopped from outside")
	errHandedOver   = messages.Errorf(messages.CodeUnavailable, "the node shut down; another goes on with the run")
	errUnresponsive = messages.Errorf(messages.CauseStalled,
		"the run's actor did not answer and was abandoned")
)

// release forgets an ended run once its terminal is in the journal. Later readers read the journal.
func (o *owner) release(r *activeRun) {
	r.end(errEnding)
	r.log.WhenDurable(0, func(err error) {
		if err != nil && r.log.Dropped() == nil {
			o.afterPause(loopPause, func() { o.release(r) }) // the journal does not take it now
			return
		}
		o.released(r)
	})
}

// released forgets the run, logs a failure, and reports its claim as over.
func (o *owner) released(r *activeRun) {
	if !o.runs.forget(r) {
		return
	}
	r.detach()
	end := r.log.Final()
	if end == nil {
		o.handleLost(r)
		return
	}
	o.counts.ended.Add(1)
	if end.Status == messages.Failed {
		o.logFailure(r, end)
	}
	if r.parent != nil {
		o.sendToRuns(&forgetRun{about: r})
		r.parent.post(newChildOver(r.id, *end))
	}
	claim := r.lent() // a claim that comes later is lent again
	o.mu.Lock()
	defer o.mu.Unlock()
	if claim.Run != "" {
		o.endedClaims = append(o.endedClaims, claim)
	}
}

// logFailure logs the one line that an operator reads about a failed run.
func (o *owner) logFailure(r *activeRun, state *messages.State) {
	end := state.End
	fields := []zap.Field{zap.String("run", string(r.id)), zap.String("job", r.job.Name), zap.String("task", end.Task),
		zap.String("cause", string(end.Cause)), zap.String("error", end.Error.Message)}
	if end.Error.Stack != "" {
		fields = append(fields, zap.String("stack", end.Error.Stack))
	}
	o.log.Warn("run failed", fields...)
}

// finishLost ends every run whose actor ended together with its supervisor.
func (o *owner) finishLost(why error) {
	for _, r := range o.runs.all() {
		if r.parent == nil && r.hasActor() { // the next supervisor starts the others
			o.settle(r, why)
		}
	}
}

// settle ends a run without an actor: first its work and its children, then the run itself. It returns at once.
func (o *owner) settle(r *activeRun, why error) {
	switch {
	case errors.Is(why, supervision.ErrAbandoned):
		why = errUnresponsive
	case why == nil || errors.Is(why, supervision.ErrKilled):
		why = errActorKilled
	}
	o.retryUntilDone(func() bool { return o.settled(r, why) })
}

// settled does the work of settle. It reports false while the end of a child is unknown: call it again.
func (o *owner) settled(r *activeRun, why error) bool {
	r.end(errEnding)
	o.stopTasksOf(r)
	o.awaitWork(r)
	for _, c := range r.log.OpenChildren() {
		end, known := o.endOf(r, c)
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
		if messages.CodeOf(why) == messages.CauseNodeLost || r.refused {
			failed.By = messages.ByRecovery
		}
		r.log.With(time.Now().UTC(), func(l *log.Ledger) { failed.Cause = l.Cause("", failed.Cause) })
		r.log.Finish(time.Now().UTC(), failed, failed.Error.Message)
	}
	o.release(r)
	return true
}

// endOf ends a child, wherever it is, and returns its State. A child without a log was never started, and gets a log
// that says so.
func (o *owner) endOf(parent *activeRun, c messages.ChildState) (messages.State, bool) {
	child := o.runs.active(c.Child)             // the child's actor ended together with its parent's
	if child != nil && child.parent == parent { // its actor ended together with its parent's
		durable := o.settled(child, errParentEnded) && o.awaitKept(child)
		return child.log.State(), durable
	}
	if o.runs.unendable(c.Child) != nil {
		return unended, true
	}
	_, err := o.State(o.ctx, c.Child)
	if messages.CodeOf(err) == messages.CodeNotFound {
		child, err := o.runs.writeCanceled(parent, &childRun{id: c.Child, job: Job{Name: c.Job}})
		durable := err == nil && o.awaitKept(child) // nothing is visible before that
		if _, never := errors.AsType[log.Unstorable](child.log.Dropped()); never {
			return messages.State{Status: messages.Canceled}, true
		}
		return child.log.State(), durable
	}
	if err := o.Cancel(o.ctx, c.Child, "", "its parent has ended"); err != nil && o.ctx.Err() != nil {
		return messages.State{}, false
	}
	end, err := o.readers.wait(o.ctx, c.Child, nil)
	return end, err == nil // the next try finds a child that nobody can end
}

// childElsewhere waits for the end of a child that has no parent on this node, and tells the parent.
func (o *owner) childElsewhere(parent *activeRun, id messages.RunID) bool {
	if parent.log.Dropped() != nil || parent.leaving.Load() {
		return true
	}
	end, err := o.readers.wait(o.ctx, id, nil)
	if messages.CodeOf(err) == messages.CodeNotFound && o.runs.active(id) == nil { // it was given up before it had a log
		o.endUnborn(parent, id)
		return true
	}
	if o.runs.unendable(id) != nil {
		end, err = unended, nil
	}
	if err != nil {
		o.log.Warn("waiting for a child", zap.String("run", string(id)), zap.Error(err))
		return o.ctx.Err() != nil
	}
	parent.post(newChildOver(id, end))
	return true
}

// cancelChild cancels a child, wherever it is.
func (o *owner) cancelChild(id messages.RunID) {
	const reason = "its parent is ending"
	if child := o.runs.active(id); child != nil {
		o.sendToRuns(&cancelFor{run: child, cancelRun: cancelRun{reason: reason}})
		return
	}
	o.retryUntilDone(func() bool {
		err := o.Cancel(o.ctx, id, "", reason) // whoever waits for the end of a child without a log writes that log
		return err == nil || messages.CodeOf(err) == messages.CodeNotFound || o.ctx.Err() != nil
	})
}

// newChildOver describes a child's end, from the child's State.
func newChildOver(child messages.RunID, end messages.State) *childOver {
	o := &childOver{id: child, status: end.Status, waited: end.Waited(end.UpdatedAt), spent: end.Spent()}
	if end.Purse != nil {
		o.added, o.estimated = end.Purse.Added, end.Purse.Estimated
	}
	if end.End != nil {
		o.cause = end.End.Cause
	}
	return o
}

func (o *childOver) event() messages.ChildEnded {
	return messages.ChildEnded{Child: o.id, Status: o.status, Cause: o.cause, WaitedMS: o.waited.Milliseconds(),
		Spent: o.spent, Added: o.added, Estimated: o.estimated}
}

// retryUntilDone calls f on its own goroutine. If f returns false or crashes, it calls f again a second later.
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
func (o *owner) awaitWork(r *activeRun) {
	a := r.working()
	if a == nil {
		return
	}
	over, ended := context.WithCancel(context.Background())
	a.work.Load().OnEnd(ended)
	if supervision.Sleep(over, o.config.CancelHard); over.Err() == nil {
		a.work.Load().Abandon()
	}
}

// awaitKept waits until all of the run's events are in the journal. It reports false if nobody will know.
func (o *owner) awaitKept(r *activeRun) bool {
	for {
		stored := make(chan error, 1)
		r.log.WhenDurable(0, func(err error) { stored <- err })
		if err := <-stored; err == nil {
			return true
		}
		if r.log.Dropped() != nil || o.ctx.Err() != nil {
			return false
		}
		supervision.Sleep(o.ctx, loopPause) // the journal does not take the run's events now
	}
}

// stopTasksOf stops the task actors of a run whose actor has ended, because an abandoned actor does not stop its
// children.
func (o *owner) stopTasksOf(r *activeRun) {
	for _, t := range r.job.Tasks {
		pid := o.PID(r.id, t.Name)
		if !o.node.Alive(pid) {
			continue
		}
		o.node.Root().Stop(pid)
		time.AfterFunc(o.config.CancelHard, func() { o.node.Abandon(nil, pid) })
	}
}

// handOver forgets a run that its actor has left for another node, once everything recorded is durable. Close then
// returns the run's claim.
func (o *owner) handOver(r *activeRun) {
	r.log.WhenDurable(0, func(err error) {
		if err != nil && r.log.Dropped() == nil {
			o.afterPause(loopPause, func() { o.handOver(r) }) // the journal does not take it now
			return
		}
		if err == nil { // a node that lost the run does not return its claim
			o.returnAtClose(r.lent())
		}
		r.log.Drop(errHandedOver)
		if !o.runs.forget(r) {
			return
		}
		r.detach()
		o.counts.ended.Add(1)
		if r.parent != nil {
			o.sendToRuns(&forgetRun{about: r})
			r.parent.post(&childLeft{about: r.id})
		}
	})
}

// returnAtClose has Close return the claim. Before the node stops claiming, it would get the run again.
func (o *owner) returnAtClose(c journal.Claim) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claimsToReturn = append(o.claimsToReturn, c)
}

// returnClaims returns the claims of the runs that another node may start again.
func (o *owner) returnClaims() {
	o.mu.Lock()
	claims := o.claimsToReturn
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), log.ReadTimeout)
	defer cancel()
	for _, c := range claims {
		if err := o.guarded(func() error { return o.journal.Keep(ctx, c, journal.Released) }); err != nil {
			o.log.Warn("claim", zap.String("run", string(c.Run)), zap.Error(err))
		}
	}
}

// takeOver ends a run that its node has left. Without children and messages a single event does it. Otherwise
// run.recovered comes first, then their ends, then the terminal. The first event takes ownership, and spans every number
// that a reader may have seen.
func (o *owner) takeOver(r *activeRun, why *messages.Error) {
	now := time.Now().UTC()
	if r.log.Unsettled() {
		r.log.With(now, func(l *log.Ledger) {
			_ = l.Recover(now, "recovered", func(rewind *messages.Rewind) messages.Body {
				return messages.RunRecovered{Node: o.config.Node, Epoch: l.Epoch, Rewind: rewind}
			})
		})
		o.settle(r, why)
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
		o.runs.excludeRun(r.id, err)
		o.runs.forget(r)
		return
	}
	o.release(r)
}

// handleLost handles a run whose live log was dropped, because another node owns it or because the journal refuses its
// events permanently.
func (o *owner) handleLost(r *activeRun) {
	refused, never := errors.AsType[log.Unstorable](r.log.Dropped())
	if never && r.log.Durable() > 0 {
		o.retryUntilDone(func() bool { return o.endRefused(r, refused) })
		return
	}
	o.counts.ended.Add(1)
	switch {
	case r.parent == nil:
	case never && r.log.HasTerminal(): // this child's log cannot be written at all
		o.log.Error("a sub-run has no log", zap.String("run", string(r.id)), zap.Error(refused))
		r.parent.post(&childOver{id: r.id, status: messages.Canceled, cause: messages.CauseJournalUnavailable})
	default:
		if r.log.HasTerminal() { // it was to be written as cancelled, but had been started after all
			o.cancelChild(r.id)
		}
		o.retryUntilDone(func() bool { return o.childElsewhere(r.parent, r.id) })
	}
}

// endRefused ends a run whose last block the journal refuses permanently. It drops the refused events, and the terminal
// follows the last durable event. If that is refused too, nobody can end the run.
func (o *owner) endRefused(old *activeRun, why log.Unstorable) bool {
	if old.refused {
		o.runs.excludeRun(old.id, why)
		o.readers.notify(old.id)
		if old.parent != nil {
			old.parent.post(newChildOver(old.id, unended))
		}
		return true
	}
	fold, head, err := o.readers.foldLog(o.ctx, old.id)
	switch {
	case err != nil:
		return o.ctx.Err() != nil
	case head.Ended:
		o.counts.ended.Add(1)
		if old.parent != nil {
			old.parent.post(newChildOver(old.id, fold.State()))
		}
		return true
	}
	r := o.runs.newRun(old.id, old.job, *fold.Peek().Queued, old.parent)
	r.claim, r.refused = old.lent(), true
	r.log.Resume(fold, head)
	o.runs.enlist(r)
	o.takeOver(r, why.Why)
	return true
}

// unended stands for the end of a child that nobody can end.
var unended = messages.State{Status: messages.Failed, End: &messages.End{Cause: messages.CauseJournalUnavailable}}

// endUnborn writes the log of a child that has none, and so tells the parent of its end.
func (o *owner) endUnborn(parent *activeRun, id messages.RunID) {
	name := "child"
	for _, c := range parent.log.OpenChildren() {
		if c.Child == id {
			name = c.Job
		}
	}
	if _, err := o.runs.writeCanceled(parent, &childRun{id: id, job: Job{Name: name}}); err != nil {
		parent.post(&childOver{id: id, status: messages.Canceled, cause: messages.CauseCanceledByUser})
	}
}
