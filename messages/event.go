package messages

import (
	"crypto/rand"
	"strings"
	"time"
)

// RunID names a run: "r_" and 26 base32 characters (128 random bits); a sub-run adds ".c1", ".c2" and so on to its
// parent's id. It is safe in a URL and in a file name.
type RunID string

// NewRunID returns a fresh id with at least 128 random bits.
func NewRunID() RunID { return RunID("r_" + strings.ToLower(rand.Text())) }

// Event is one fact about a run, numbered in order.
type Event struct {
	RunID RunID
	// Seq is the event's number, from 1, stamped by the run alone.
	Seq uint64
	// From is the first number that this event stands for, and Seq the last. They are equal except for a merged delta
	// and for the event that recovery writes.
	From uint64
	// Time is when the event was recorded, in UTC; for a merged delta, its last part.
	Time time.Time
	// Message is one short sentence for people. The State does not depend on it.
	Message string
	Body    Body
	// cache holds the wire form for all copies of the event.
	cache *Wire
}

// Body is what an event says: one of the types in the table of [Kinds], or [Unknown]. There are no others.
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

// IsTerminal reports whether the event ends its run.
func (e Event) IsTerminal() bool { return e.Body != nil && e.Body.info().ending != nil }

// itemOverhead is the size of a list element besides its texts.
const itemOverhead = 64

// eventOverhead is the size of an event besides its texts: the struct, its body and its place in a slice.
const eventOverhead = 192

// Size estimates the event's memory in bytes, for the limits of a log.
func (e Event) Size() int { return eventOverhead + len(e.RunID) + len(e.Message) + sizeOf(e.Body) }

func sizeOf(b Body) int {
	if size := rowOf(b).size; size != nil {
		return size(b)
	}
	return 0
}
