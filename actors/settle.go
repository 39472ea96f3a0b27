package actors

import (
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

const whyLost = "the node that ran it is gone"

// settle ends a run that its node has left: its children first, and by one event where it has none. The first event
// owns the run: it reaches over every number that a reader may have seen.
func (s *System) settle(r *activeRun) {
	word := func(rewind *messages.Rewind) messages.Body {
		return messages.RunFailed{By: messages.ByRecovery, Cause: messages.CauseNodeLost, Rewind: rewind,
			Error: messages.Errorf(messages.Code(messages.CauseNodeLost), whyLost)}
	}
	if len(r.log.openChildren()) > 0 {
		r.log.with(time.Now().UTC(), func(l *ledger) {
			_ = l.recover(time.Now().UTC(), "recovered", func(rewind *messages.Rewind) messages.Body {
				return messages.RunRecovered{Node: s.config.Node, Epoch: r.log.epoch, Rewind: rewind}
			})
		})
		s.node.Call(&succession{s, r, word(nil)})
		return
	}
	var err error
	r.log.with(time.Now().UTC(), func(l *ledger) {
		err = l.recover(time.Now().UTC(), whyLost, func(rewind *messages.Rewind) messages.Body {
			return l.fold.Look().LastWord(word(rewind))
		})
	})
	if err != nil {
		s.setAside(r.id, err)
		s.forget(r)
		return
	}
	s.release(r)
}

// succession is work: it ends the children of a run that its node has left, and then the run.
type succession struct {
	system *System
	run    *activeRun
	word   messages.Body
}

// Work implements [supervision.Work].
func (w *succession) Work() {
	s := w.system
	for _, c := range w.run.log.openChildren() {
		end, ok := s.endOf(w.run, c)
		if !ok {
			w.later()
			return
		}
		_ = w.run.log.record(time.Now().UTC(), messages.ChildEnded{Child: c.Child, Status: end.Status, Cause: causeOf(end)},
			"child "+string(end.Status))
	}
	w.run.log.finish(time.Now().UTC(), w.word, whyLost)
	s.release(w.run)
}

// Crashed implements [supervision.Work].
func (w *succession) Crashed(crash *supervision.Crash) {
	w.system.log.Error("ending a run crashed", zap.String("run", string(w.run.id)), zap.Error(crash))
	w.later()
}

// later goes on with the children that have not ended, unless another node has the run.
func (w *succession) later() {
	if w.run.log.dropped() != nil {
		w.system.release(w.run)
		return
	}
	w.system.later(func() { w.system.node.Call(w) })
}

// endOf waits for a child's end. One that has no log was never born, and its log says so.
func (s *System) endOf(parent *activeRun, c messages.ChildState) (messages.State, bool) {
	_, err := s.State(s.ctx, c.Child)
	if messages.CodeOf(err) == messages.CodeNotFound {
		child, err := s.write(parent, &offspring{id: c.Child, job: Job{Name: c.Job}})
		kept := err == nil && s.awaitKept(child) // it shows nothing before
		return child.log.state(), kept
	}
	if err := s.Cancel(s.ctx, c.Child, "", "its parent's node is gone"); err != nil && s.ctx.Err() != nil {
		return messages.State{}, false
	}
	end, err := s.wait(s.ctx, c.Child)
	return end, err == nil
}

// bury writes what a run owes whose actor is gone: the terminals of its children, and then its own. It returns at once.
func (s *System) bury(r *activeRun, why error) {
	if why == nil || errors.Is(why, supervision.ErrKilled) {
		why = killed{messages.Errorf(messages.Code(messages.CauseError), "the run's actor was stopped from outside")}
	}
	s.node.Call(&burial{system: s, run: r, why: why})
}

// killed is an end from outside, in words for the log.
type killed struct{ error }

func (k killed) Unwrap() []error { return []error{k.error, supervision.ErrKilled} }

// burial is work: it waits for what is alive, bounded by the hard limit.
type burial struct {
	system *System
	run    *activeRun
	why    error
}

// Work implements [supervision.Work].
func (b *burial) Work() {
	b.system.stopTasksOf(b.run)
	b.rest()
	b.system.release(b.run)
}

// Crashed implements [supervision.Work].
func (b *burial) Crashed(crash *supervision.Crash) {
	b.system.log.Error("ending a run crashed", zap.String("run", string(b.run.id)), zap.Error(crash))
	b.lastWord()
	b.system.release(b.run)
}

// rest ends everything of the run, and writes its terminal.
func (b *burial) rest() {
	b.run.end(errEnding)
	b.system.awaitWork(b.run)
	for _, c := range b.run.log.openChildren() {
		b.child(c)
	}
	b.lastWord()
}

// lastWord writes the terminal, which is a no-op where the run wrote its own.
func (b *burial) lastWord() {
	if b.run.log.standing() || b.run.log.dropped() != nil {
		return
	}
	b.system.log.Error("run actor ended without a terminal", zap.String("run", string(b.run.id)), zap.Error(b.why))
	word := failure(messages.BySupervisor, "", b.why)
	if errors.Is(b.why, supervision.ErrAbandoned) {
		word.Cause = messages.CauseStalled
		word.Error = messages.Errorf(messages.Code(messages.CauseStalled), "the run's actor did not answer and was abandoned")
	}
	b.run.log.with(time.Now().UTC(), func(l *ledger) { word.Cause = l.cause("", word.Cause) })
	b.run.log.finish(time.Now().UTC(), word, word.Error.Message)
}

var errParentGone = messages.Errorf(messages.Code(messages.CauseError), "the actor of the parent run ended")

// child ends a child, and takes its end down.
func (b *burial) child(c messages.ChildState) {
	child := b.system.active(c.Child)
	if child != nil {
		(&burial{b.system, child, killed{errParentGone}}).rest()
		b.system.release(child)
	} else {
		child, _ = b.system.write(b.run, &offspring{id: c.Child, job: Job{Name: c.Job}})
	}
	if child == nil || !b.system.awaitKept(child) {
		return
	}
	end := child.log.state()
	_ = b.run.log.record(time.Now().UTC(), messages.ChildEnded{Child: c.Child, Status: end.Status, Cause: causeOf(end)},
		"child "+string(end.Status))
}

// fosterage is work: it waits for the end of a child that another node has, and tells the parent.
type fosterage struct {
	system *System
	child  *activeRun
}

// Work implements [supervision.Work].
func (w *fosterage) Work() {
	s, id := w.system, w.child.id
	end, err := s.wait(s.ctx, id)
	if err == nil {
		w.child.parent.post(&childOver{id: id, status: end.Status, cause: causeOf(end)})
	} else if w.child.parent.log.dropped() == nil {
		s.log.Warn("waiting for a child", zap.String("run", string(id)), zap.Error(err))
		s.later(w.again)
	}
}

func (w *fosterage) again() { w.system.node.Call(w) }

// Crashed implements [supervision.Work].
func (w *fosterage) Crashed(crash *supervision.Crash) {
	w.system.log.Error("the journal crashed", zap.Error(crash))
	w.system.later(w.again)
}

func causeOf(s messages.State) messages.Cause {
	if s.End == nil {
		return ""
	}
	return s.End.Cause
}

// awaitWork waits until no work of the run is left, to the hard limit, and gives up on what is.
func (s *System) awaitWork(r *activeRun) {
	a := r.working()
	if a == nil {
		return
	}
	over := make(chan struct{})
	a.work.Load().OnEnd(func() { close(over) })
	patience := time.NewTimer(s.config.CancelHard)
	defer patience.Stop()
	select {
	case <-over:
	case <-patience.C:
		a.work.Load().Abandon()
	}
}

// awaitKept waits until everything of the run is in the journal. It reports false where that will not be known.
func (s *System) awaitKept(r *activeRun) bool {
	for {
		kept := make(chan error, 1)
		r.log.whenDurable(func(err error) { kept <- err })
		if err := <-kept; err == nil {
			return true
		}
		if r.log.dropped() != nil || s.ctx.Err() != nil {
			return false
		}
		pause := time.NewTimer(time.Second) // the journal does not take the run's events now
		select {
		case <-pause.C:
		case <-s.ctx.Done():
		}
		pause.Stop()
	}
}

// stopTasksOf stops the children of a run actor that is gone: nobody tells those of an abandoned one.
func (s *System) stopTasksOf(r *activeRun) {
	for _, t := range r.job.Tasks {
		pid := s.PID(r.id, t.Name)
		if !s.node.Alive(pid) {
			continue
		}
		s.node.Root().Stop(pid)
		time.AfterFunc(s.config.CancelHard, func() {
			if s.node.Alive(pid) {
				s.node.Abandon(nil, pid)
			}
		})
	}
}

// openChildren returns the children that the log names and that have not ended.
func (l *runLog) openChildren() []messages.ChildState {
	l.mu.Lock()
	defer l.mu.Unlock()
	var open []messages.ChildState
	if l.ledger.fold.OpenChildren() == 0 {
		return nil
	}
	for _, c := range l.ledger.fold.Look().Children {
		if !c.Status.IsEnded() {
			open = append(open, c)
		}
	}
	return open
}
