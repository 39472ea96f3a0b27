package log

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// Ledger numbers a run's events, checks that each is legal, and keeps their sum.
//
// It has no lock, no clock and no journal. Its [Log] calls it under mu.
type Ledger struct {
	ID messages.RunID
	// Fold is the sum of all events so far, the fresh ones included.
	Fold messages.Fold
	// Fresh holds the events that are not published yet.
	Fresh []messages.Event
	// faulty counts, by task, the injected faults that have had no consequence yet; "" is the run's own actor. A
	// fault with neither task nor point hits the journal or a reader, and fails nobody here.
	faulty map[string]int
	// Epoch is the epoch of this node's ownership; 0 before its owning event.
	Epoch uint64
}

// Record numbers and adds an event. The error is a *messages.Refusal for an event that is not legal now, and
// limit_exceeded for one that is too large.
func (l *Ledger) Record(now time.Time, body messages.Body, message string) error {
	seq := l.Fold.Peek().Seq + 1
	if f, ok := body.(messages.FaultInjected); ok && f.Task+f.Point != "" {
		if l.faulty == nil {
			l.faulty = map[string]int{}
		}
		l.faulty[f.Task]++
	}
	return l.take(messages.Event{RunID: l.ID, From: seq, Seq: seq, Time: now, Message: message, Body: body})
}

// Recover adds the first event of a new owner. It spans the reserved numbers and carries a rewind.
func (l *Ledger) Recover(now time.Time, message string, body func(rewind *messages.Rewind) messages.Body) error {
	from, seq, rewind := l.Fold.Peek().Recovery()
	return l.take(messages.Event{RunID: l.ID, From: from, Seq: seq, Time: now, Message: message, Body: body(rewind)})
}

// take checks an event's size and legality, and adds it.
func (l *Ledger) take(e messages.Event) error {
	if n := e.Size(); n > messages.MaxEventBytes {
		return errTooLarge(e.Kind(), n)
	}
	if err := l.Fold.Apply(e); err != nil {
		return err
	}
	l.Fresh = append(l.Fresh, e)
	return nil
}

// Stamp adds what only the run knows: the task, a stream's offset and index, a log line's number. It copies a delta's
// text once.
func (l *Ledger) Stamp(b messages.Body, task string) messages.Body {
	switch b := b.(type) {
	case messages.TextDelta:
		t, _ := l.Fold.Stream(b.Stream)
		if t.Index > 0 {
			b.MediaType = ""
		}
		b.Task, b.Index, b.Offset, b.Count, b.Part = task, t.Index, t.Len(), 0, false
		return b
	case messages.ThoughtDelta:
		t, _ := l.Fold.Stream(b.Stream)
		b.Task, b.Index, b.Offset, b.Count, b.Part = task, t.Index, t.Len(), 0, false
		return b
	}
	b = messages.Owned(b, task)
	if d, ok := b.(messages.TextDone); ok {
		if t, begun := l.Fold.Stream(d.Stream); begun && t.Index > 0 {
			d.MediaType = t.MediaType
		}
		return d
	}
	if b, ok := b.(messages.Log); ok {
		for i := range b.Lines { // Owned has copied them
			b.Lines[i].Number = l.Fold.Peek().Log.Next + uint64(i)
		}
	}
	return b
}

// Cause returns why the task failed or, for "", why the run's actor failed. After an injected fault that is injected;
// otherwise it is the given code.
func (l *Ledger) Cause(task string, otherwise messages.Code) messages.Code {
	if l.faulty[task] > 0 {
		l.faulty[task]--
		return messages.CauseInjected
	}
	return otherwise
}

// ForgetFaults forgets the task's injected faults: the task failed of something else, or not at all.
func (l *Ledger) ForgetFaults(task string) { delete(l.faulty, task) }

// Finish adds the terminal if there is none yet, and reports whether it did. After an accepted cancel the terminal is
// run.canceled, whoever calls Finish. Before it, it drops each message that nobody has taken.
func (l *Ledger) Finish(now time.Time, word messages.Body, message string) bool {
	if l.ended() {
		return false
	}
	last := l.Fold.Peek().Terminal(word)
	if messages.KindOf(last) != messages.KindOf(word) {
		message = "canceled"
	}
	l.dropMessages(now, messages.KindOf(last))
	err := l.Record(now, last, message)
	if err == nil {
		return true
	}
	// only run.completed can be refused: a task is open, or the result is too large
	failed := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.CauseError, "%v", err)}
	if messages.CodeOf(err) == messages.CauseLimitExceeded {
		failed.Cause, failed.Error.Code = messages.CauseLimitExceeded, messages.CauseLimitExceeded
	}
	return l.Record(now, l.Fold.Peek().Terminal(failed), err.Error()) == nil
}

// dropMessages gives each open message its end before the run's own.
func (l *Ledger) dropMessages(now time.Time, end messages.Kind) {
	if l.Fold.OpenMessages() == 0 {
		return
	}
	reason := messages.DropEnded
	if end == messages.KindRunCanceled {
		reason = messages.DropCanceled
	}
	for _, m := range slices.Clone(l.Fold.Peek().Messages) {
		if m.IsOpen() {
			_ = l.Record(now, messages.MessageDropped{Message: m.Message, Reason: reason}, "the run ended before it took the message")
		}
	}
}

func (l *Ledger) ended() bool { return l.Fold.Peek().Status.IsEnded() }

// Storable returns why no journal could hold an event, or nil. Anyone who gave the body gets the error.
func Storable(body messages.Body, message string) error {
	if n := (messages.Event{Body: body, Message: message}).Size(); n > messages.MaxEventBytes {
		return errTooLarge(messages.KindOf(body), n)
	}
	if !utf8.ValidString(message) {
		return messages.InvalidInput("the message of a %s is not UTF-8", messages.KindOf(body))
	}
	if d, _ := messages.DoneOf(body); d.Omitted {
		return messages.InvalidInput("a %s needs its text: only the wire leaves texts out", messages.KindOf(body))
	}
	return messages.Check(body)
}

func errTooLarge(kind messages.Kind, bytes int) error {
	return messages.LimitExceeded("a %s of %d bytes is too large: an event has %d at most", kind, bytes, messages.MaxEventBytes)
}
