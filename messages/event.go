package messages

import (
	"crypto/rand"
	"strings"
	"time"
)

// RunID names a run: "r_" and 26 base32 characters (128 random bits) for a run of its own, its parent's id with ".c1",
// ".c2" and so on for a sub-run. It is safe in a URL and in a file name.
type RunID string

// NewRunID returns a fresh id with at least 128 random bits.
func NewRunID() RunID { return RunID("r_" + strings.ToLower(rand.Text())) }

// Event is one fact about a run, numbered in its order.
type Event struct {
	RunID RunID
	// Seq is the event's number, from 1, stamped by the run alone.
	Seq uint64
	// From says that this event stands for the events From..Seq. It equals Seq except for a merged delta and for the
	// event that recovery writes.
	From uint64
	// Time is when the event was recorded, in UTC; for a merged delta, when its last part was.
	Time time.Time
	// Message is one short sentence for people. State takes nothing from it.
	Message string
	Body    Body
	// slot holds the wire form that copies of the event share.
	slot *Wire
}

// Body is what an event says. The implementations are the types that stand in the table of [Kinds], and [Unknown]; no
// others exist.
type Body interface {
	Kind() Kind
	info() *KindInfo
}

// Kind returns the kind of the event's body, or "" when it has none.
func (e Event) Kind() Kind {
	if e.Body == nil {
		return ""
	}
	return e.Body.Kind()
}

// IsDelta reports whether the event may be merged with its neighbours.
func (e Event) IsDelta() bool { return e.Body != nil && e.Body.info().Level == Delta }

// IsTerminal reports whether the event is the last word of its run.
func (e Event) IsTerminal() bool { return e.Body != nil && e.Body.info().last != nil }

// itemOverhead is what an element of a list costs besides its texts.
const itemOverhead = 64

// eventOverhead is what an event costs besides its texts, in bytes: the struct, its body and its place in a slice.
const eventOverhead = 192

// Size estimates the event's memory in bytes. It is what the bounds of a live log count.
func (e Event) Size() int { return eventOverhead + len(e.RunID) + len(e.Message) + sizeOf(e.Body) }

func sizeOf(b Body) int {
	if size := rowOf(b).size; size != nil {
		return size(b)
	}
	return 0
}
