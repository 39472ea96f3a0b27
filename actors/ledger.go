package actors

import (
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// ledger is a run's log in the making: it stamps events, has them judged, and keeps their sum. It has no lock, no clock
// and no journal; whoever holds the run's log drives it.
type ledger struct {
	id   messages.RunID
	fold messages.Fold
	// fresh are the events recorded since they were last taken.
	fresh []messages.Event
	// faulty counts, by task, the faults that a test injected and that nothing has come of yet; "" is the run's own actor.
	faulty map[string]int
}

// record stamps an event and takes it down. Its error is a *messages.Refusal when the event is not legal now, and
// limit_exceeded when it is larger than an event may be.
func (l *ledger) record(now time.Time, body messages.Body, message string) error {
	seq := l.fold.Look().Seq + 1
	if f, ok := body.(messages.FaultInjected); ok {
		if l.faulty == nil {
			l.faulty = map[string]int{}
		}
		l.faulty[f.Task]++
	}
	return l.take(messages.Event{RunID: l.id, From: seq, Seq: seq, Time: now, Message: message, Body: body})
}

// said is record for what a task says: the event becomes the task's.
func (l *ledger) said(now time.Time, task string, body messages.Body, message string) error {
	return l.record(now, l.stamp(body, task), message)
}

// recover takes down the event with which a new owner begins: numbers, over the reserve, and the rewind are the fold's.
func (l *ledger) recover(now time.Time, message string, body func(rewind *messages.Rewind) messages.Body) error {
	from, seq, rewind := l.fold.Look().Recovery()
	return l.take(messages.Event{RunID: l.id, From: from, Seq: seq, Time: now, Message: message, Body: body(rewind)})
}

func (l *ledger) take(e messages.Event) error {
	if n := e.Size(); n > messages.MaxEventBytes {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"a %s of %d bytes is too large: an event has %d at most", e.Kind(), n, messages.MaxEventBytes)
	}
	if err := l.fold.Apply(e); err != nil {
		return err
	}
	l.fresh = append(l.fresh, e)
	return nil
}

// stamp fills in what the run alone knows: the task, a stream's offset and index, a log line's number. A delta of a text
// is copied once.
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
		for i := range b.Lines { // they were copied by Owned
			b.Lines[i].Number = l.fold.Look().Log.Next + uint64(i)
		}
	}
	return b
}

// cause returns the cause of a failure of the task, or of the run's own actor: injected where a test has injected it.
func (l *ledger) cause(task string, otherwise messages.Cause) messages.Cause {
	if l.faulty[task] > 0 {
		l.faulty[task]--
		return messages.CauseInjected
	}
	return otherwise
}

// finish takes down the terminal unless there is one, and reports whether it did. Once a cancel is accepted the terminal
// is run.canceled, whoever asks.
func (l *ledger) finish(now time.Time, word messages.Body, message string) bool {
	if l.ended() {
		return false
	}
	last := l.fold.Look().LastWord(word)
	if last.Kind() != word.Kind() {
		message = "canceled"
	}
	err := l.record(now, last, message)
	if err == nil {
		return true
	}
	// Only a run.completed can be refused: a task is open, or the result is too large.
	failed := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.Code(messages.CauseError), "%v", err)}
	if messages.CodeOf(err) == messages.Code(messages.CauseLimitExceeded) {
		failed.Cause, failed.Error.Code = messages.CauseLimitExceeded, messages.Code(messages.CauseLimitExceeded)
	}
	return l.record(now, l.fold.Look().LastWord(failed), err.Error()) == nil
}

func (l *ledger) ended() bool { return l.fold.Look().Status.IsEnded() }
