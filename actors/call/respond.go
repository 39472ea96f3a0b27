package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Answer is the result of a call.
type Answer struct {
	ID       string // of the call, in the run's events
	Text     string
	Thoughts []Thought // without repeated ones
	Calls    []model.ToolCall
	End      model.End
}

// Thought is a complete thought.
type Thought struct {
	Text       string   `json:"text"`
	Type       string   `json:"thought_type,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Source     string   `json:"source,omitempty"`
}

// Respond calls the model once. It records the call as [Recorded] does, and streams the text under the label's name.
// A text.done with the whole text closes a complete answer, unless the answer has only tool calls. llm.completed has
// the calls.
//
// If a message to the run interrupts the call, the error is [actors.ErrInterrupted], and the text ends where it was.
// If the answer is not complete, the error's code is the cause, and the Answer holds what arrived. JSON that the
// server cut is invalid output. Respond does not retry.
func Respond(ctx context.Context, t *actors.TaskContext, s model.Stream, r model.Request, v Label) (Answer, error) {
	n := &recorder{task: t, stream: s, label: v, whole: true}
	say := func(piece string) error { return t.AppendTyped(v.name(), mediaType(r), piece) }
	if v.Whole {
		say = func(string) error { return nil }
	}
	a, err := listen(ctx, n.call, r, say)
	a.ID = n.id(1)
	switch {
	case err == nil:
		err = a.done(t, v, mediaType(r))
	case errors.Is(context.Cause(ctx), actors.ErrInterrupted):
		err = a.cut(t, v)
	}
	return a, err
}

// mediaType returns the media type of the answer to the request.
func mediaType(r model.Request) string {
	if r.Format != nil {
		return messages.TextJSON
	}
	return messages.TextMarkdown
}

// done emits the whole text, unless the answer has only tool calls.
func (a Answer) done(t *actors.TaskContext, v Label, kind string) error {
	if a.Text == "" && len(a.Calls) > 0 {
		return nil
	}
	whole := messages.TextDone{Stream: v.name(), Text: a.Text, SHA256: messages.Digest(a.Text), MediaType: kind}
	return t.Emit(whole, "the answer is complete")
}

// cut closes the text of an answer that a message interrupted.
func (a Answer) cut(t *actors.TaskContext, v Label) error {
	if a.Text != "" {
		if err := t.FinishText(v.name(), a.Text); err != nil {
			return err
		}
	}
	return actors.ErrInterrupted
}

// listen reads the answer to its end. If say fails, listen cancels the call and still reads the end.
func listen(ctx context.Context, s model.Stream, r model.Request, say func(piece string) error) (a Answer, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var text strings.Builder
	var failed, unsaid error
	ended := false
	for part, err := range s(ctx, r) {
		failed = err
		switch p := part.(type) {
		case model.Text:
			text.WriteString(p.Text)
			if err := say(p.Text); err != nil {
				unsaid = err
				stop(err)
			}
		case model.ThoughtDone:
			if !p.Repeated {
				a.Thoughts = append(a.Thoughts, Thought{p.Text, p.Type, p.Confidence, sourceOf(p.Source)})
			}
		case model.End:
			a.Calls, a.End, ended = p.Calls, p, true
		}
	}
	a.Text = text.String()
	switch {
	case failed != nil:
	case !ended:
		failed = messages.Errorf(messages.CauseTransportClosed, "the model's answer has no end")
	default:
		a.End.Verdict = judged(a.End.Verdict, r)
		failed = a.End.Verdict.Err()
	}
	return a, cmp.Or(failed, unsaid)
}

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
func endMessage(name, requested string, e model.End, v model.Verdict) string {
	if v.Outcome != model.Completed {
		return name + ": " + v.Message
	}
	words := name + " answered"
	if requested != "" && e.Model != "" && !model.SameModel(requested, e.Model) {
		words += ", not " + requested + ","
	}
	if u := e.Usage; u != nil && u.CompletionTokens != nil {
		words += fmt.Sprintf(" in %d tokens", *u.CompletionTokens)
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

// cutReason says why the server cut an answer that is Truncated or Filtered.
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
		out.Code, out.Retryable, out.Provider = e.Code, e.Retryable, e.Provider
	}
	return out
}
