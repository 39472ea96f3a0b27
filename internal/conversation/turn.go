package conversation

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Turn may write to its conversation until it ends; another turn waits for its end. It is not safe for concurrent use.
type Turn struct {
	id      string
	journal journal
	state   state
	number  int
}

// begin takes the conversation for this turn. It reads the journal again after its record is written: of two that
// begin at once, the record that is first has it.
func (t *Turn) begin(b Beginning) error {
	if err := t.catchUp(); err != nil {
		return err
	}
	now := time.Now().UTC()
	s := &t.state
	switch {
	case s.format > format:
		return messages.InvalidInput("the conversation %s was written by a newer version; use that one", t.id)
	case s.bytes > maxBytes:
		return messages.LimitExceeded("the conversation %s has more than %d bytes; begin another one", t.id, maxBytes)
	case s.id == "":
		if err := write(t.journal, record{ID: t.id, Format: format}); err != nil {
			return err
		}
	}
	begun := begin{Owner: b.Owner, Until: now.Add(cmp.Or(b.Timeout, 5*time.Minute)), System: b.System, Folder: b.Folder,
		Held: t.journal.hold()}
	gone := begun.Held && s.owner.Held || b.Over != "" && b.Over == s.owner.Owner
	if s.busy(b.Owner, now) && !gone { // it held the lock, so its process has ended
		return s.busyError(t.id)
	}
	t.number = s.turn + 1
	message := model.Message{Role: model.User, Content: b.Message}
	err := t.write(record{Begin: &begun, Messages: []model.Message{message}})
	if err == nil && (t.state.owner.Owner != b.Owner || !t.state.owner.Until.Equal(begun.Until)) {
		err = t.state.busyError(t.id)
	}
	return err
}

// catchUp reads what was appended since the last read.
func (t *Turn) catchUp() error {
	data, err := t.journal.after(t.state.bytes)
	t.state.read(data)
	return err
}

// write appends a record. It fails if another turn has taken over.
func (t *Turn) write(r record) error {
	r.Turn = t.number
	if err := write(t.journal, r); err != nil {
		return err
	}
	if err := t.catchUp(); err != nil {
		return err
	}
	if t.state.turn != t.number {
		return t.state.busyError(t.id)
	}
	return nil
}

// System returns the system prompt of this turn, or of the last turn that had one.
func (t *Turn) System() string { return t.state.system }

// History returns the messages for the model, from earlier turns and from this turn.
func (t *Turn) History() []model.Message { return t.state.history() }

// Lacks returns what History does not have: how many messages a summary stands for, and how many lines cannot be read.
func (t *Turn) Lacks() (covered, damaged int) {
	if t.state.summary != nil {
		covered = t.state.summary.Covers
	}
	return covered, t.state.damaged
}

// Say appends messages of the assistant and of tools.
func (t *Turn) Say(msgs ...model.Message) error { return t.write(record{Messages: msgs}) }

// Summarize replaces all messages except the last kept ones by a summary, for this turn and later ones.
func (t *Turn) Summarize(text string, kept int) error {
	return t.write(record{Summary: &summary{Text: text, Covers: len(t.state.messages) - kept}})
}

// Tainted reports whether the conversation ever had untrusted text.
func (t *Turn) Tainted() bool { return t.state.tainted }

// Taint records that the conversation has untrusted text.
func (t *Turn) Taint() error {
	if t.state.tainted {
		return nil
	}
	return t.write(record{Tainted: true})
}

// Allowed reports whether the user has allowed the pin in this conversation.
func (t *Turn) Allowed(pin string) bool { return slices.Contains(t.state.allowed, pin) }

// Allow records that the user allows the pin in this conversation.
func (t *Turn) Allow(pin string) error { return t.write(record{Allowed: pin}) }

// End ends the turn. It has completed if there is no cause. The turn is then on disk.
func (t *Turn) End(cause messages.Code) error {
	defer t.journal.Close()
	if err := t.write(record{End: string(cmp.Or(cause, completed))}); err != nil {
		return err
	}
	return t.journal.sync()
}
