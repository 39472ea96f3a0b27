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
}

// Kind returns the kind of the event's body, or "" when it has none.
func (e Event) Kind() Kind {
	if e.Body == nil {
		return ""
	}
	return e.Body.Kind()
}

// IsDelta reports whether the event may be merged with its neighbours.
func (e Event) IsDelta() bool { return e.Kind().Level() == Delta }

// IsTerminal reports whether the event is the last word of its run.
func (e Event) IsTerminal() bool { return e.Kind().IsTerminal() }

// eventOverhead is what an event costs besides its texts, in bytes: the struct, its body and its place in a slice.
const eventOverhead = 192

// Size estimates the event's memory in bytes. It is what the bounds of a live log count.
func (e Event) Size() int { return eventOverhead + len(e.Message) + bodySize(e.Body) }

func bodySize(b Body) int {
	switch b := b.(type) {
	case TextDelta:
		return len(b.Text)
	case ThoughtDelta:
		return len(b.Text)
	case TextDone:
		return len(b.Text)
	case ThoughtDone:
		return len(b.Text)
	case Log:
		return b.size()
	case Merged:
		n := 0
		for _, part := range b.Parts {
			n += eventOverhead/2 + bodySize(part)
		}
		return n
	case RunQueued:
		return len(b.Input)
	case RunCompleted:
		return len(b.Result) + eventOverhead*len(b.Artifacts)
	case RunFailed:
		return b.Error.size() + eventOverhead*len(b.Artifacts) + b.Rewind.size()
	case RunCanceled:
		return eventOverhead*len(b.Artifacts) + b.Rewind.size()
	case RunRecovered:
		return b.Rewind.size()
	case TaskFailed:
		return b.Error.size()
	case LLMCompleted:
		return b.Error.size()
	case ToolStarted:
		return len(b.Arguments)
	case ToolCompleted:
		return len(b.Result) + b.Error.size()
	case InputRequired:
		return len(b.Prompt) + len(b.Schema)
	case InputReceived:
		return len(b.Value)
	case Unknown:
		return len(b.Payload)
	default:
		return 0
	}
}
