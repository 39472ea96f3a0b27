package model

import (
	"context"
	"iter"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Stream calls a model and yields its answer as it arrives. The last part is always an [End], and there is only one.
// Its error is the verdict's: nil for completed. A consumer that stops early cancels the call.
type Stream func(ctx context.Context, r Request) iter.Seq2[Part, error]

// Part is one of Loading, Text, Thought, ThoughtDone, CallDelta and End.
type Part interface{ part() }

// Loading says that the server is still loading the model, so the answer has to wait.
type Loading struct{ For time.Duration }

// Text is a piece of the answer: valid UTF-8, never empty.
type Text struct{ Text string }

// Thought is a piece of a thought.
type Thought struct {
	Number int // of the thought in the answer, from 0
	Text   string
}

// ThoughtDone closes a thought.
type ThoughtDone struct {
	Number     int
	Text       string // as a whole
	Type       string // the model's word for it; may be empty
	Confidence *float64
	Source     Source
	// Repeated says that an earlier thought of the answer had the same text.
	Repeated bool
}

// Source says where a thought was found.
type Source string

const (
	Field Source = "field" // a field such as reasoning_content
	Tag   Source = "tag"   // tags in the answer's text
)

// CallDelta is a piece of a tool call.
type CallDelta struct {
	Number    int    // of the call in the answer, from 0
	ID, Name  string // once known
	Arguments string // a piece of JSON
}

// ToolCall is a complete call.
type ToolCall struct {
	// ID is the call's id, from the server, or from this side if it sent none.
	ID string `json:"id"`
	// Name is the name of the tool.
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // a JSON object
	// Extra is a JSON object: further members of the call, which go back with it.
	Extra string `json:"extra,omitempty"`
}

// End is the last part of an answer.
type End struct {
	// Verdict says whether the answer is complete, and why.
	Verdict Verdict
	// Evidence is what the Verdict rests on.
	Evidence Evidence
	// Calls are the complete tool calls, in order.
	Calls []ToolCall
	// ThoughtsIn and Extra are what the [Message] with the answer needs.
	ThoughtsIn, Extra string

	Usage *messages.Usage // nil if the server sent none
	Model string          // the model that answered, as the server names it
	// FirstToken is the time to the first piece of text, thought or call; 0 if none came.
	FirstToken time.Duration
}

func (Loading) part()     {}
func (Text) part()        {}
func (Thought) part()     {}
func (ThoughtDone) part() {}
func (CallDelta) part()   {}
func (End) part()         {}
