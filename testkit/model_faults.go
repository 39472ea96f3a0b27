package testkit

import "github.com/seed889630bf/lastword/messages"

// ModelFault is one way in which a server of models fails, and what a call must end in.
type ModelFault struct {
	Name string
	// Answers are for the requests in order; the last is for all that follow, too.
	Answers [][]Piece
	Profile string // of the client: "strict" or "generic"
	// Cause is what a call ends in that is tried once; empty for completed.
	Cause messages.Cause
	// Text is what has reached the reader by then.
	Text                string
	Signal              string // of a completed call: "done" or "eof+finish"
	Truncated, Filtered bool
	Message             string // a part of the verdict's message; may be empty
	// Retries is how often a client has to try again for the call to complete, with the text "fine"; 0 where it never
	// does, or must not try again, because text has reached the reader.
	Retries int
	// Calls is how often the client calls, one after another on the same connection: the last is judged, the others
	// complete with the text "fine". 0 is once.
	Calls int
	// Watchdog says that the server leaves it to the client to end the call.
	Watchdog bool
}

// Break makes the server fail from now on.
func (m *Model) Break(f ModelFault) {
	last := len(f.Answers) - 1
	for _, pieces := range f.Answers[:last] {
		m.Answer(pieces...)
	}
	m.Always(f.Answers[last]...)
}
