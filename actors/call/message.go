package call

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// sourceOf returns the name of the source in thought.done.
func sourceOf(s model.Source) string {
	switch s {
	case model.Field:
		return "reasoning-field"
	case model.Tag:
		return "think-tag"
	}
	return string(s)
}

// seenAt returns the source with the name that sourceOf gives.
func seenAt(name string) model.Source {
	switch name {
	case sourceOf(model.Field):
		return model.Field
	case sourceOf(model.Tag):
		return model.Tag
	}
	return model.Source(name)
}

func thoughtMessage(p model.ThoughtDone) string {
	if p.Repeated {
		return fmt.Sprintf("a repeated thought, %d bytes", len(p.Text))
	}
	return fmt.Sprintf("a thought, %d bytes", len(p.Text))
}

// endMessage returns the sentence of llm.completed.
func endMessage(name, asked string, e model.End, v model.Verdict) string {
	if v.Outcome != model.Completed {
		return name + ": " + v.Message
	}
	words := name + " answered"
	if asked != "" && e.Model != "" && !model.SameModel(asked, e.Model) {
		words += ", not " + asked + ","
	}
	if e.Usage != nil {
		words += fmt.Sprintf(" in %d tokens", e.Usage.CompletionTokens)
	}
	if e.FirstToken > 0 {
		words += fmt.Sprintf(", the first after %d ms", milliseconds(e.FirstToken))
	}
	switch {
	case v.Truncated || v.Filtered:
		words += "; " + cutReason(v)
	case model.FinishOf(e.Evidence.Finish) == model.Unknown:
		words += "; the server ended it with an unknown finish_reason, " + e.Evidence.Finish
	}
	return words
}

func cutReason(v model.Verdict) string {
	if v.Message != "" {
		return v.Message
	}
	if v.Filtered {
		return "the server filtered its content"
	}
	return "the server cut it for its length"
}

// milliseconds rounds up, because 0 means that there was no token.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// asError returns the error in the form that an event holds.
func asError(err error) *messages.Error {
	if err == nil {
		return nil
	}
	out := messages.Errorf(messages.CauseError, "%v", err)
	if e, ok := errors.AsType[*messages.Error](err); ok {
		out.Code, out.Retryable = e.Code, e.Retryable
	}
	return out
}
