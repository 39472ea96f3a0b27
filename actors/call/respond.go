package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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
// If the answer is not complete, the error's code is the cause, and the Answer holds what arrived. JSON that the
// server cut is invalid output. Respond does not retry.
func Respond(ctx context.Context, t *actors.TaskContext, s model.Stream, r model.Request, v Label) (Answer, error) {
	n := &recorder{task: t, stream: s, label: v, whole: true}
	say := func(piece string) error { return t.Say(v.name(), piece) }
	if v.Whole {
		say = func(string) error { return nil }
	}
	a, err := listen(ctx, n.call, r, say)
	a.ID = n.id(1)
	if err == nil {
		err = errors.Join(a.other(t, r, v), a.done(t, v))
	}
	return a, err
}

// other warns, at the first answer of a task, if another model than the requested one answered: some servers have
// only one.
func (a Answer) other(t *actors.TaskContext, r model.Request, v Label) error {
	first := v.name() == answer || strings.HasSuffix(v.name(), ".1")
	if !first || r.Model == "" || a.End.Model == "" || model.SameModel(r.Model, a.End.Model) {
		return nil
	}
	return t.Log(messages.LogWarn, fmt.Sprintf("%s answered, not %s", a.End.Model, r.Model))
}

// done emits the whole text, unless the answer has only tool calls.
func (a Answer) done(t *actors.TaskContext, v Label) error {
	if a.Text == "" && len(a.Calls) > 0 {
		return nil
	}
	whole := messages.TextDone{Stream: v.name(), Text: a.Text, SHA256: messages.Digest(a.Text)}
	return t.Emit(whole, "the answer is complete")
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
