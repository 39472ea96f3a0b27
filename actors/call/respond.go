package call

import (
	"cmp"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Answer is what came of a call.
type Answer struct {
	Text     string
	Thoughts []Thought // without those that were there before
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

// Respond asks the model once and has the task say its answer as it comes: what [Told] tells, and the text under the
// voice's name, closed by an authoritative text.done when the answer is complete.
//
// The error is that of an answer that is not completed; its code is the cause. JSON that the server cut is invalid
// output. The Answer holds what came all the same. A verdict is final: there are no retries here.
func Respond(ctx context.Context, t *actors.TaskContext, s model.Stream, r model.Request, v Voice) (Answer, error) {
	a, err := listen(ctx, Told(t, s, v), r, func(piece string) error { return t.Say(v.name(), piece) })
	if err != nil {
		return a, err
	}
	whole := messages.TextDone{Stream: v.name(), Text: a.Text, SHA256: messages.Digest(a.Text)}
	return a, t.Emit(whole, "the answer is complete")
}

// listen reads the answer to its end. Where a piece cannot be said the call is cancelled, and its end is read all the
// same.
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
			a.think(p)
		case model.End:
			a.Calls, a.End, ended = p.Calls, p, true
		}
	}
	a.Text = text.String()
	if failed == nil {
		failed = a.verdict(ended, r)
	}
	return a, cmp.Or(failed, unsaid)
}

func (a *Answer) think(p model.ThoughtDone) {
	if !p.Repeated {
		a.Thoughts = append(a.Thoughts, Thought{p.Text, p.Type, p.Confidence, sourceOf(p.Source)})
	}
}

func (a *Answer) verdict(ended bool, r model.Request) error {
	if !ended {
		return messages.Errorf(messages.Code(messages.CauseTransportClosed), "the model's answer has no end")
	}
	a.End.Verdict = Judged(a.End.Verdict, r)
	return a.End.Verdict.Err()
}
