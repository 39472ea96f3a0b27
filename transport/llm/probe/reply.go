package probe

import (
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
)

// reply is what came of one call.
type reply struct {
	text, thought string
	thoughts      int
	end           model.End
	failed        error
	wire          *wire

	began, first, ended time.Time // first is zero where nothing came
}

func (r *reply) take(p model.Part, err error) {
	if r.first.IsZero() {
		if _, end := p.(model.End); !end {
			r.first = time.Now()
		}
	}
	switch p := p.(type) {
	case model.Text:
		r.text += p.Text
	case model.Thought:
		r.thought += p.Text
	case model.ThoughtDone:
		r.thoughts++
	case model.End:
		r.end, r.failed = p, err
	}
}

// ok says that the answer has its end.
func (r *reply) ok() bool { return r.failed == nil && r.end.Verdict.Outcome == model.Completed }

// refused says that the server had no such request.
func (r *reply) refused() bool { return r.end.Evidence.Status >= 400 && r.end.Evidence.Status < 500 }

// words are the server's own on a failure, in lower case.
func (r *reply) words() string {
	if f := r.end.Evidence.Failure; f != nil {
		return f.Words()
	}
	return ""
}

// why says how the call failed.
func (r *reply) why() string {
	if r.end.Verdict.Message != "" {
		return r.end.Verdict.Message
	}
	if r.failed != nil {
		return r.failed.Error()
	}
	return "it did not end"
}

// says reports whether the answer has the word, in any case.
func (r *reply) says(word string) bool {
	return strings.Contains(strings.ToLower(r.text), strings.ToLower(word))
}

// onlyThought says that the tokens ran out before the answer began.
func (r *reply) onlyThought() bool { return r.text == "" && r.thought != "" }
