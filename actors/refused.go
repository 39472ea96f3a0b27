package actors

import (
	"errors"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// unstorable is why a run was dropped that the journal refuses for good.
type unstorable struct{ why *messages.Error }

func (u unstorable) Error() string { return u.why.Message }
func (u unstorable) Unwrap() error { return u.why }

func errUnstorable(b *Block, why error) error {
	first, last := b.Events[0], b.Events[len(b.Events)-1]
	return unstorable{messages.Errorf(messages.Code(messages.CauseJournalUnavailable),
		"the journal refuses for good what the run said in %d to %d, which was dropped: %v", first.From, last.Seq, why)}
}

// lost deals with a run whose live log was dropped: another node has it, or the journal refuses for good what it said.
func (s *System) lost(r *activeRun) {
	refused, never := errors.AsType[unstorable](r.log.dropped())
	if never && r.log.durable.Load() > 0 {
		s.untilDone(func() bool { return s.endRefused(r, refused) })
		return
	}
	s.counts.ended.Add(1)
	switch {
	case r.parent == nil:
	case never && r.log.hasTerminal(): // nothing can be written of this child
		s.log.Error("a sub-run has no log", zap.String("run", string(r.id)), zap.Error(refused))
		r.parent.post(&childOver{id: r.id, status: messages.Canceled, cause: messages.CauseJournalUnavailable})
	default:
		if r.log.hasTerminal() { // it was to be written as cancelled, and was born after all
			s.cancelChild(r.id)
		}
		s.untilDone(func() bool { return s.childElsewhere(r.parent, r.id) })
	}
}

// endRefused ends a run whose last block the journal refuses for good: what was refused is dropped, and the terminal
// follows what is durable. If that is refused as well, nobody can end the run.
func (s *System) endRefused(old *activeRun, why unstorable) bool {
	if old.refused {
		s.counts.ended.Add(1)
		s.setAside(old.id, why)
		return true
	}
	fold, head, err := s.foldAll(s.ctx, old.id)
	switch {
	case err != nil:
		return s.ctx.Err() != nil
	case head.Ended:
		s.counts.ended.Add(1)
		return true
	}
	r := s.newRun(old.id, old.job, *fold.Peek().Queued, old.parent)
	r.claim, r.refused = old.lent(), true
	r.log.resume(fold, head)
	r.log.epoch = head.Epoch + 1
	s.mu.Lock()
	s.enlist(r)
	s.mu.Unlock()
	s.takeOver(r, why.why)
	return true
}

// bury writes the log of a child that has none, and so tells the parent of its end.
func (s *System) bury(parent *activeRun, id messages.RunID) {
	name := "child"
	for _, c := range parent.log.openChildren() {
		if c.Child == id {
			name = c.Job
		}
	}
	if _, err := s.writeCanceled(parent, &childRun{id: id, job: Job{Name: name}}); err != nil {
		parent.post(&childOver{id: id, status: messages.Canceled, cause: messages.CauseCanceledByUser})
	}
}
