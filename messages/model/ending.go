package model

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
)

// Reason says why an answer ended. Completed answers have the words of OpenAI's API.
type Reason string

// The reasons. Length and Filter win over ToolCalls: no call of an answer that was cut is whole.
const (
	Stop      Reason = "stop"
	Length    Reason = "length"         // cut by the server's limit, or by a bound of this side
	Filter    Reason = "content_filter" // cut by the server for its content
	ToolCalls Reason = "tool_calls"
)

// Denied is the finish_reason of a run whose user did not allow a call.
const Denied = "denied"

// Cut reports whether the answer was cut.
func (r Reason) Cut() bool { return r == Length || r == Filter }

// Reason returns why the answer ended: also Failed or Canceled.
func (e End) Reason() Reason {
	switch {
	case e.Verdict.Outcome != Completed:
		return Reason(e.Verdict.Outcome)
	case e.Verdict.Truncated:
		return Length
	case e.Verdict.Filtered:
		return Filter
	case len(e.Calls) > 0:
		return ToolCalls
	}
	return Stop
}

// FinishReason returns the server's word for the end, or Length if this side ended the answer.
func (e End) FinishReason() string {
	if e.Verdict.Truncated && FinishOf(e.Evidence.Finish) != Truncated {
		return string(Length)
	}
	return e.Evidence.Finish
}

// Ending says how the answer of a run ended. All readers take it from here.
type Ending struct {
	// Reason is Failed or Canceled, with a Code, if the run did not complete.
	Reason Reason
	Code   messages.Code
	// Text is the run's last answer or, without one, its result, see [ResultText].
	Text string
	// Thoughts says that the model wrote thoughts alone: neither text nor calls.
	Thoughts bool
	// Calls are the calls of the caller's functions. All are whole: an answer that was cut has none.
	Calls []ToolCall
}

// EndOf returns how the run ended, as far as its State tells.
func EndOf(s messages.State) Ending {
	var answer messages.Stream
	thoughts := false
	for _, t := range s.Streams {
		thoughts = thoughts || t.Thought
		if messages.IsAnswer(t.Name) && t.Len() > 0 {
			answer = t
		}
	}
	return Ended(s.End, "", answer.Text(), thoughts)
}

// Ended returns how a run ended, by its terminal, the finish_reason and the text of its newest answer, and whether there
// are thoughts. While end is nil, it is how that answer ended.
func Ended(end *messages.End, finish, text string, thoughts bool) Ending {
	v := Verdict{Outcome: Completed, Truncated: FinishOf(finish) == Truncated, Filtered: FinishOf(finish) == Filtered}
	switch {
	case end == nil:
		return Ending{Reason: End{Verdict: v}.Reason(), Text: text}
	case end.Error != nil:
		return Ending{Reason: Reason(Failed), Code: end.Cause, Text: text}
	case end.Cause != "":
		return Ending{Reason: Reason(Canceled), Code: end.Cause, Text: text}
	}
	var said struct { // results of other types have none of these
		FinishReason        string `json:"finish_reason"`
		Truncated, Filtered bool
		Calls               []ToolCall
	}
	_ = json.Unmarshal(end.Result, &said)
	v.Truncated = v.Truncated || said.Truncated && said.FinishReason != ""
	v.Filtered = v.Filtered || said.Filtered && said.FinishReason != ""
	e := Ending{Reason: End{Verdict: v, Calls: said.Calls}.Reason(), Text: text}
	if text == "" {
		e.Text = ResultText(end.Result)
	}
	if e.Reason == ToolCalls {
		e.Calls = said.Calls
	}
	e.Thoughts = thoughts && e.Text == "" && e.Calls == nil && said.FinishReason != Denied
	return e
}

// ResultText returns the result of a run as text: its member "text" if it has one, else its JSON.
func ResultText(result json.RawMessage) string {
	var object struct{ Text *string }
	if json.Unmarshal(result, &object) == nil && object.Text != nil {
		return *object.Text
	}
	return messages.Plain(result)
}

// Lack says what the answer lacks, or "".
func (e Ending) Lack() string {
	switch {
	case e.Reason == Length:
		return "the answer was cut at its length limit"
	case e.Reason == Filter:
		return "the server's content filter cut the answer"
	case e.Thoughts:
		return "the model wrote thoughts, and no answer"
	}
	return ""
}
