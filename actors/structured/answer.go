package structured

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// answer is what one attempt brought.
type answer struct {
	text, thought, arguments strings.Builder
	end                      model.End
	clean                    []byte // the object in the text or the arguments, put right, or nil
	long                     bool   // more than maxAnswer came; the rest was not read
	open                     bool   // the object in it does not end, or the tokens did first
}

// call makes one attempt. The error is the stream's.
func (q *question) call(ctx context.Context) (*answer, error) {
	a := new(answer)
	q.live.begin()
	ended, err := a.read(q.stream(ctx, q.next()), q.live.push)
	a.clean, a.open = q.live.close()
	q.count(a.end)
	if err == nil && !ended && !a.long {
		err = messages.Errorf(messages.Code(messages.CauseTransportClosed), "the model's answer has no end")
	}
	return a, err
}

func (a *answer) read(parts func(func(model.Part, error) bool), live func(text string)) (ended bool, failed error) {
	size := 0
	for part, err := range parts {
		if err != nil {
			failed = err
		}
		size += a.take(part, live)
		if end, ok := part.(model.End); ok {
			a.end, ended = end, true
		}
		if a.long = size > maxAnswer; a.long {
			break
		}
	}
	return ended, failed
}

// take keeps what the part adds to the answer, and says how much that is.
func (a *answer) take(part model.Part, live func(text string)) int {
	switch p := part.(type) {
	case model.Text:
		a.text.WriteString(p.Text)
		live(p.Text)
		return len(p.Text)
	case model.Thought:
		a.thought.WriteString(p.Text)
		return len(p.Text)
	case model.CallDelta:
		if p.Number == 0 {
			a.arguments.WriteString(p.Arguments)
			live(p.Arguments)
		}
		return len(p.Arguments)
	}
	return 0
}

func (q *question) count(end model.End) {
	if end.Model != "" {
		q.report.Model = end.Model
	}
	if u := end.Usage; u != nil {
		q.report.Read += int(u.PromptTokens)
		q.report.Written += int(u.CompletionTokens)
	}
}

// cut tells an answer that the server cut for its length, also one that had come no further than thoughts.
func (a *answer) cut() bool {
	v := a.end.Verdict
	ended := v.Outcome == model.Completed || v.Cause == messages.CauseEmptyCompletion
	return ended && (v.Truncated || model.FinishOf(a.end.Evidence.Finish) == model.Truncated)
}

// spent says that the answer took all the tokens that it was given, whatever the server says of its end.
func (a *answer) spent(most int) bool {
	u := a.end.Usage
	return u != nil && most > 0 && u.CompletionTokens >= int64(most)
}

// said is the answer as the model wrote it: the arguments of the call that it was to make, or its text.
func (a *answer) said() string {
	switch {
	case len(a.end.Calls) > 0:
		return a.end.Calls[0].Arguments
	case a.arguments.Len() > 0:
		return a.arguments.String()
	}
	return a.text.String()
}

// documents lists where the object may be, the likeliest last. A thought is looked into where there is nothing else: a
// grammar may bind the thoughts as well, and then the answer stands there.
func (a *answer) documents() []found {
	list := objectsIn(a.said())
	if strings.TrimSpace(a.said()) == "" {
		list = objectsIn(a.thought.String())
		for i := range list {
			list[i].thought = true
		}
	}
	if a.clean != nil {
		list = append([]found{{doc: a.clean, repaired: true}}, list...)
	}
	return list
}
