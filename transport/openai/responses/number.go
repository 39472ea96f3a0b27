package responses

import (
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// numberBits are those of a sequence_number that count from the last milestone on.
const numberBits = 26

// number is the sequence_number of the newest event.
type number struct {
	milestone, position uint64
	after               uint64 // the client has all up to this number
	found               bool   // an event has the number after
	mixed               bool   // the event stands for deltas of several texts, whose order is lost
}

func (n *number) value() uint64 { return n.milestone<<numberBits + n.position }

// count begins to count anew from a milestone on.
func (n *number) count(op *transcript.Op) {
	texts := 0
	for _, p := range op.Parts {
		switch p.(type) {
		case messages.TextDelta, messages.ThoughtDelta:
			texts++
		}
	}
	if n.mixed = texts > 1; !op.Event.IsDelta() && op.Seq() != n.milestone {
		n.milestone, n.position = op.Seq(), 0
	}
}

// step counts an event, or the bytes of a text, and reports whether the client lacks something of it.
func (n *number) step(size int) (lacks bool) {
	from := n.value()
	n.position += uint64(size)
	now := n.value()
	n.found = n.found || n.after == now || from < n.after && n.after < now && !n.mixed
	return now > n.after
}
