package responses

import (
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// numberBits is the number of bits of a sequence_number that count from the last milestone on.
const numberBits = 26

// number computes the sequence_number of the newest event.
type number struct {
	milestone, position uint64
	after               uint64 // the client has everything up to this number
	found               bool   // an event has exactly the number after
	mixed               bool   // the event merges deltas of several texts, whose order is lost
}

func (n *number) value() uint64 { return n.milestone<<numberBits + n.position }

// count moves to the event of the operation. A milestone restarts the position.
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

// step counts an event, or size bytes of text. It reports whether the client lacks any of it.
func (n *number) step(size int) (lacks bool) {
	from := n.value()
	n.position += uint64(size)
	now := n.value()
	n.found = n.found || n.after == now || from < n.after && n.after < now && !n.mixed
	return now > n.after
}
