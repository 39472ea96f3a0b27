package actors

import (
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// ledger numbers a run's events, checks that each is legal, and keeps their sum.
//
// It has no lock, no clock and no journal. Its [runLog] calls it under mu. fold is always the sum of all events so
// far, the fresh ones included.
type ledger struct {
	id   messages.RunID
	fold messages.Fold
	// fresh holds the events that are not published yet.
	fresh []messages.Event
	// faulty counts, by task, the injected faults that have had no consequence yet; "" is the run's own actor. A
	// fault with neither task nor point hits the journal or a reader, and fails nobody here.
	faulty map[string]int
}

// record numbers and adds an event. The error is a *messages.Refusal for an event that is not legal now, and
// limit_exceeded for one that is too large.
func (l *ledger) record(now time.Time, body messages.Body, message string) error {
	seq := l.fold.Peek().Seq + 1
	if f, ok := body.(messages.FaultInjected); ok && f.Task+f.Point != "" {
		if l.faulty == nil {
			l.faulty = map[string]int{}
		}
		l.faulty[f.Task]++
	}
	return l.take(messages.Event{RunID: l.id, From: seq, Seq: seq, Time: now, Message: message, Body: body})
}

// recover adds the first event of a new owner. It spans the reserved numbers and carries a rewind.
func (l *ledger) recover(now time.Time, message string, body func(rewind *messages.Rewind) messages.Body) error {
	from, seq, rewind := l.fold.Peek().Recovery()
	return l.take(messages.Event{RunID: l.id, From: from, Seq: seq, Time: now, Message: message, Body: body(rewind)})
}

// take checks an event's size and legality, and adds it.
func (l *ledger) take(e messages.Event) error {
	if n := e.Size(); n > messages.MaxEventBytes {
		return errTooLarge(e.Kind(), n)
	}
	if err := l.fold.Apply(e); err != nil {
		return err
	}
	l.fresh = append(l.fresh, e)
	return nil
}

// stamp adds what only the run knows: the task, a stream's offset and index, a log line's number. It copies a delta's
// text once.
func (l *ledger) stamp(b messages.Body, task string) messages.Body {
	switch b := b.(type) {
	case messages.TextDelta:
		t, _ := l.fold.Stream(b.Stream)
		b.Task, b.Index, b.Offset, b.Count = task, t.Index, t.Len(), 0
		return b
	case messages.ThoughtDelta:
		t, _ := l.fold.Stream(b.Stream)
		b.Task, b.Index, b.Offset, b.Count = task, t.Index, t.Len(), 0
		return b
	}
	b = messages.Owned(b, task)
	if b, ok := b.(messages.Log); ok {
		for i := range b.Lines { // Owned has copied them
			b.Lines[i].Number = l.fold.Peek().Log.Next + uint64(i)
		}
	}
	return b
}

// cause returns why the task failed or, for "", why the run's actor failed. After an injected fault that is injected;
// otherwise it is the given code.
func (l *ledger) cause(task string, otherwise messages.Code) messages.Code {
	if l.faulty[task] > 0 {
		l.faulty[task]--
		return messages.CauseInjected
	}
	return otherwise
}

// finish adds the terminal if there is none yet, and reports whether it did. After an accepted cancel the terminal is
// run.canceled, whoever calls finish.
func (l *ledger) finish(now time.Time, word messages.Body, message string) bool {
	if l.ended() {
		return false
	}
	last := l.fold.Peek().Terminal(word)
	if messages.KindOf(last) != messages.KindOf(word) {
		message = "canceled"
	}
	err := l.record(now, last, message)
	if err == nil {
		return true
	}
	// only run.completed can be refused: a task is open, or the result is too large
	failed := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.CauseError, "%v", err)}
	if messages.CodeOf(err) == messages.CauseLimitExceeded {
		failed.Cause, failed.Error.Code = messages.CauseLimitExceeded, messages.CauseLimitExceeded
	}
	return l.record(now, l.fold.Peek().Terminal(failed), err.Error()) == nil
}

func (l *ledger) ended() bool { return l.fold.Peek().Status.IsEnded() }
