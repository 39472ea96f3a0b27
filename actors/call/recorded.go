package call

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// recorded replays a recorded answer: its thoughts, its text and its end, or its error.
func recorded(told []messages.Body, failed error) model.Stream {
	return func(context.Context, model.Request) iter.Seq2[model.Part, error] {
		return func(yield func(model.Part, error) bool) {
			var thoughts []string
			for _, body := range told {
				switch b := body.(type) {
				case messages.ThoughtDone:
					n := len(thoughts)
					done := model.ThoughtDone{Number: n, Text: b.Text, Type: b.ThoughtType, Confidence: b.Confidence,
						Source: seenAt(b.Source), Repeated: slices.Contains(thoughts, b.Text)}
					thoughts = append(thoughts, b.Text)
					if b.Text != "" && !yield(model.Thought{Number: n, Text: b.Text}, nil) || !yield(done, nil) {
						return
					}
				case messages.LLMCompleted:
					end, err := endOf(b)
					if b.Text == "" || yield(model.Text{Text: b.Text}, nil) {
						yield(end, err)
					}
					return
				}
			}
			err := messages.Errorf(messages.CauseError, "%v", failed)
			yield(model.End{Verdict: model.Verdict{Outcome: model.Failed, Cause: err.Code, Message: err.Message}}, err)
		}
	}
}

// endOf returns the end of a recorded answer, and its error.
func endOf(b messages.LLMCompleted) (model.End, error) {
	e := model.Evidence{Done: true, Output: true, Finish: b.FinishReason}
	end := model.End{Model: b.Model, Usage: b.Usage}
	for _, c := range b.Calls {
		end.Calls = append(end.Calls, model.ToolCall{ID: c.Call, Name: c.Tool, Arguments: c.Arguments})
	}
	if b.Error == nil || b.Error.Code == messages.CauseInvalidOutput { // judged finds this error again
		end.Evidence, end.Verdict = e, model.Judge(model.Strict, e)
		return end, nil
	}
	switch b.Error.Code {
	case messages.CauseProviderError:
		e.Failure = &model.Failure{Message: b.Error.Message}
		_, _ = fmt.Sscanf(b.Error.Message, "http %d:", &e.Status)
	case messages.CauseContextExceeded:
		e.Sent = 1
	}
	end.Evidence = e
	end.Verdict = model.Verdict{Outcome: model.Outcome(b.Verdict), Cause: b.Error.Code, Message: b.Error.Message}
	return end, b.Error
}
