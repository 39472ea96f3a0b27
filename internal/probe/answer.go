package probe

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages/model"
)

// answers checks that the server answers at all.
func answers(ctx context.Context, p *prober) Result {
	r := p.hello(ctx)
	switch {
	case !r.ok() && strings.Contains(strings.ToLower(r.why()), "no models loaded"):
		return fail("load a model: lastword models load NAME", "%s", r.why())
	case !r.ok():
		return fail("see the server's log; lastword prompt --jsonl shows the whole exchange", "%s", r.why())
	case r.onlyThought():
		return warn("raise --max-tokens, or switch thoughts off", "%d bytes of thought, and no answer", len(r.field+r.thought))
	}
	return pass("%q, the first token after %d ms", words.Clip(r.text, 60), r.end.FirstToken.Milliseconds())
}

// modelNamed checks that the answer comes from the requested model.
func modelNamed(ctx context.Context, p *prober) Result {
	requested, got := p.model(ctx), p.hello(ctx).end.Model
	switch {
	case got == "":
		return warn("see the server's log for the model that answers", "the answer names no model")
	case requested != "" && !model.SameModel(requested, got):
		return warn("load the model that you want; this server uses another one if it is not loaded",
			"%s was asked, and %s answered", requested, got)
	}
	return pass("%s", got)
}

// streams fails a server that sends the whole answer at once, or most of it at the last moment.
func streams(ctx context.Context, p *prober) Result {
	const remedy = "something on the way buffers the tokens: look for a proxy"
	r := p.hello(ctx)
	pieces, spread, all := words.Count(r.pieces, "piece"), r.last.Sub(r.first), r.last.Sub(r.began)
	switch {
	case r.pieces < 2:
		return warn(remedy, "the answer came in %s", pieces)
	case all > 20*time.Millisecond && spread < time.Millisecond, all > time.Second && spread < all/50:
		return warn(remedy, "%s came within %d ms after %d ms of silence", pieces, spread.Milliseconds(), (all - spread).Milliseconds())
	}
	return pass("%s over %d ms", pieces, spread.Milliseconds())
}

// terminator checks that the stream ends with [DONE].
func terminator(ctx context.Context, p *prober) Result {
	if !p.hello(ctx).end.Evidence.Done {
		return warn("the commands accept a finish_reason as the end (the profile generic)",
			"the answer ended with a finish_reason and the end of the body")
	}
	return pass("[DONE]")
}

// counting is a prompt with a long answer.
const counting = "Count from 1 to 300 in words, one number a line, and leave none out."

// cancel abandons a long answer after its first token. If the server keeps generating, its answer to the next request
// is late.
func cancel(ctx context.Context, p *prober) Result {
	long := p.follow(ctx, ask(counting), p.options.Patience, func(part model.Part) bool {
		_, end := part.(model.End)
		return end
	})
	if long.first.IsZero() {
		return skip("the long answer did not begin: %s", long.why())
	}
	soon := min(max(p.options.Soon, 3*p.hello(ctx).end.FirstToken), p.options.Patience)
	r := p.askWithin(ctx, ask(ready), soon)
	if !r.ok() && r.first.IsZero() {
		return warn("the server completes cancelled answers: give --max-tokens, and expect to wait after a cancel",
			"after a cancel the next answer did not begin within %s: %s", soon, r.why())
	}
	return pass("the next answer began after %d ms", r.first.Sub(r.began).Milliseconds())
}

// reply is the outcome of one request.
type reply struct {
	raw    string    // the text, including thoughts in it
	field  string    // the thoughts in a separate field
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
