package messages

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"
)

// InputKind is the kind of answer that a request wants.
type InputKind string

// The kinds of requests. An empty kind is a clarification.
const (
	InputClarification InputKind = "clarification"
	InputSelection     InputKind = "selection"
	InputData          InputKind = "data"
	InputConfirmation  InputKind = "confirmation"
	InputReview        InputKind = "review"
	InputSecret        InputKind = "secret"
	// InputBudget asks for more of a budget. The run itself asks; its answer has amounts by unit, as a Budget has.
	InputBudget InputKind = "budget"

	// BudgetRequest begins the names of the requests for more of a budget; a number follows.
	BudgetRequest = "budget."
)

// inputTimeouts are the default timeouts of the kinds.
var inputTimeouts = map[InputKind]time.Duration{
	"": 24 * time.Hour, InputClarification: 24 * time.Hour, InputSelection: 24 * time.Hour, InputData: 24 * time.Hour,
	InputConfirmation: time.Hour, InputReview: 30 * time.Minute, InputSecret: 5 * time.Minute, InputBudget: 24 * time.Hour,
}

// InputRequired asks people for an answer. Request is its name, unique in the run. Only a secret may be asked for
// again, because no log holds it: by the same task, after the answer or in another attempt.
type InputRequired struct {
	// Request is the name of the question.
	Request string `json:"request"`
	// Task asks, and waits; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Prompt is the question as people read it.
	Prompt string `json:"prompt" text:"any"`
	// Schema is the JSON Schema of the answer, if it has one.
	Schema json.RawMessage `json:"schema,omitempty"`
	// InputKind is the kind of answer; the default is clarification.
	InputKind InputKind `json:"kind,omitempty"`
	// TimeoutMS is how long to wait for the answer, in milliseconds; the default depends on the kind.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// Timeout returns how long the run waits for the answer.
func (b InputRequired) Timeout() time.Duration {
	if b.TimeoutMS > 0 {
		return time.Duration(b.TimeoutMS) * time.Millisecond
	}
	return inputTimeouts[b.InputKind]
}

// Due returns when the run stops waiting for the answer.
func (i Input) Due() time.Time {
	return i.AskedAt.Add(InputRequired{InputKind: i.Kind, TimeoutMS: i.TimeoutMS}.Timeout())
}

// Waited returns how long the run has waited until now: for its turn in a conversation, and for people, while it had an
// open request or a sub-run that has ended waited.
func (s State) Waited(now time.Time) (sum time.Duration) {
	switch {
	case s.After != "":
		sum = now.Sub(s.QueuedAt)
	case !s.BeganAt.IsZero():
		sum = s.BeganAt.Sub(s.QueuedAt)
	}
	for _, c := range s.Children {
		sum += time.Duration(c.WaitedMS) * time.Millisecond
	}
	inputs := make([]*Input, len(s.Inputs))
	for i := range s.Inputs {
		inputs[i] = &s.Inputs[i]
	}
	sort.Slice(inputs, func(i, j int) bool { return inputs[i].AskedAt.Before(inputs[j].AskedAt) })
	var until time.Time // requests are counted up to here
	for _, in := range inputs {
		begin, end := in.AskedAt, in.Due()
		if now.Before(end) {
			end = now
		}
		if in.Closed && in.AnsweredAt.Before(end) {
			end = in.AnsweredAt
		}
		if begin.Before(until) {
			begin = until
		}
		if end.After(begin) {
			sum, until = sum+end.Sub(begin), end
		}
	}
	return sum
}

func (InputRequired) info() *KindInfo { return inputRequired }

var inputRequired = row(InputRequired{}, KindInputRequired, "people", "The run waits for an answer.", traits{
	legal: with(InputRequired.legal),
	apply: to(func(b InputRequired, f *Fold) {
		i := f.input(b.Request)
		if i < 0 || f.s.Inputs[i].Closed {
			f.openInputs++
		}
		f.inputs.put(&f.s.Inputs, i, Input{Request: b.Request, Task: b.Task, Prompt: b.Prompt,
			Schema: b.Schema, Kind: b.InputKind, TimeoutMS: b.TimeoutMS, AskedAt: f.s.UpdatedAt, Attempt: f.attempt(b.Task)})
	}),
	list: to(func(b InputRequired, s *Summary) {
		if i, open := slices.BinarySearch(s.OpenRequests, b.Request); !open {
			s.OpenRequests = slices.Insert(slices.Clone(s.OpenRequests), i, b.Request)
		}
	}),
})

// legal checks the request's name, kind and timeout, and that its task may speak.
func (b InputRequired) legal(f *Fold) *Refusal {
	if b.Request == "" {
		return violates(ruleInput, "the request has no name")
	}
	if i := f.input(b.Request); i >= 0 && !f.asksAgain(f.s.Inputs[i], b) {
		return violates(ruleInput, "request %q repeats a name", b.Request)
	}
	if _, known := inputTimeouts[b.InputKind]; !known || b.TimeoutMS < 0 {
		return violates(RuleBody, "request %q is of no known kind: %q, %d ms", b.Request, b.InputKind, b.TimeoutMS)
	}
	return f.legalSpeaker(b.Task)
}

// asksAgain reports whether b asks again for a secret that the task has lost.
func (f *Fold) asksAgain(in Input, b InputRequired) bool {
	return in.Kind == InputSecret && b.InputKind == InputSecret && in.Task == b.Task &&
		(in.Closed || in.Attempt < f.attempt(b.Task))
}

// InputReceived answers an InputRequired. The log never holds the Value of a secret.
type InputReceived struct {
	// Request is the name of the question.
	Request string `json:"request"`
	// ID is the id of the command that answered, or "".
	ID   string `json:"id,omitempty"`
	Task string `json:"task,omitempty"`
	// Value is the answer as JSON; null for a secret, and for a question that was withdrawn.
	Value json.RawMessage `json:"value"`
	// Principal is who answered.
	Principal string `json:"principal,omitempty"`
}

func (InputReceived) info() *KindInfo { return inputReceived }

var inputReceived = row(InputReceived{}, KindInputReceived, "people", "The answer came.", traits{
	legal: with(InputReceived.legal),
	apply: to(func(b InputReceived, f *Fold) {
		i := f.input(b.Request)
		in := f.s.Inputs[i]
		in.Closed, in.ID, in.AnsweredAt = true, b.ID, f.s.UpdatedAt
		if in.Kind != InputSecret {
			in.Value = b.Value
		}
		f.inputs.put(&f.s.Inputs, i, in)
		f.openInputs--
		if in.Kind == InputBudget {
			f.addBudget(AnsweredBudget(b.Value))
		}
	}),
	list: to(func(b InputReceived, s *Summary) {
		if i, open := slices.BinarySearch(s.OpenRequests, b.Request); open {
			s.OpenRequests = slices.Concat(s.OpenRequests[:i], s.OpenRequests[i+1:])
		}
		if strings.HasPrefix(b.Request, BudgetRequest) {
			s.add(AnsweredBudget(b.Value))
		}
	}),
})

func (b InputReceived) legal(f *Fold) *Refusal {
	i := f.input(b.Request)
	switch {
	case i < 0 || f.s.Inputs[i].Closed:
		return violates(ruleInput, "request %q is not open", b.Request)
	case f.s.Inputs[i].Kind == InputSecret && len(b.Value) > 0 && !bytes.Equal(b.Value, []byte("null")):
		return violates(ruleInput, "request %q is for a secret: the log does not hold its value", b.Request)
	}
	return nil
}
