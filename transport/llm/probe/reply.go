package probe

import (
	"net/http"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// reply is the outcome of one request.
type reply struct {
	raw    string    // the text, including thoughts in it
	field  string    // the thoughts in a field of their own
	end    model.End // the outcome, as the client sees it
	failed error
	// These are derived from raw by split.
	text, thought string
	stray         bool

	pieces      int       // number of pieces of text and thoughts
	began       time.Time // when the request was sent
	first, last time.Time // times of the first and last piece; zero without any
}

// take adds a part of an answer, and notes when it came.
func (r *reply) take(p model.Part, err error) {
	switch p := p.(type) {
	case model.Text:
		r.raw += p.Text
	case model.Thought:
		r.field += p.Text
	case model.End:
		r.end, r.failed = p, err
		return
	case model.ThoughtDone, model.Loading:
		return
	}
	r.last = time.Now()
	if r.pieces++; r.pieces == 1 {
		r.first = r.last
	}
}

// split separates thoughts from the text of an answer. stray says that the text ends a thought that it did not begin.
func split(raw string, d decode.Dialect) (text, thought string, stray bool) {
	emit := func(p model.Part) {
		switch p := p.(type) {
		case model.Text:
			text += p.Text
		case model.Thought:
			thought += p.Text
		}
	}
	t := decode.NewThoughts(d)
	t.Push(raw, emit)
	t.Close(emit)
	return text, thought, t.Stray()
}

// ok reports whether the answer is complete.
func (r *reply) ok() bool { return r.failed == nil && r.end.Verdict.Outcome == model.Completed }

// onlyThought reports whether there are thoughts but no answer.
func (r *reply) onlyThought() bool { return r.text == "" && r.field+r.thought != "" }

// broke reports whether the server or the network failed, rather than refused the request.
func (r *reply) broke() bool {
	status := r.end.Evidence.Status
	return !r.ok() && (status < 400 || status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented)
}

// why says why the request failed.
func (r *reply) why() string {
	if r.end.Verdict.Message != "" {
		return r.end.Verdict.Message
	}
	if r.failed != nil {
		return r.failed.Error()
	}
	return "the answer did not end"
}
