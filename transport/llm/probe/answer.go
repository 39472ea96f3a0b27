package probe

import (
	"context"
	"strings"
	"time"
)

func answers(ctx context.Context, p *prober) Result {
	r := p.hello(ctx)
	switch {
	case !r.ok() && strings.Contains(strings.ToLower(r.why()), "no models loaded"):
		return fail("load a model: lastword models load NAME", "%s", r.why())
	case !r.ok():
		return fail("see the server's own log; lastword prompt --jsonl shows the whole exchange", "%s", r.why())
	case r.onlyThought():
		return warn("give answers more room, or switch thoughts off", "%d bytes of thought, and no answer", len(r.thought))
	}
	return pass("%q, the first token after %d ms", fitted(r.text, 60), r.end.FirstToken.Milliseconds())
}

func fitted(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// modelNamed allows for a version behind the name, as gpt-5-2026-01-01, and for a publisher before it.
func modelNamed(ctx context.Context, p *prober) Result {
	asked, got := p.model(ctx), p.hello(ctx).end.Model
	switch {
	case got == "":
		return warn("which model answered is not known", "the answer names no model")
	case asked == "":
		return pass("%s", got)
	case !strings.Contains(got, asked) && !strings.Contains(asked, got):
		return warn("load the model that you want; this server takes another one where it is not loaded",
			"%s was asked and %s answered", asked, got)
	}
	return pass("%s", got)
}

// streams looks at the reads: an answer that comes in one, or whose first token comes when nearly all the time is over,
// was not streamed.
func streams(ctx context.Context, p *prober) Result {
	const remedy = "something between here and the model holds the tokens back: look for buffering in a proxy"
	r := p.hello(ctx)
	list := r.wire.deltas()
	if len(list) < 2 {
		return warn(remedy, "the answer came in %s", count(len(list), "piece"))
	}
	first, last := list[0].read, list[len(list)-1].read
	if first == last {
		return warn(remedy, "%s came at once", count(len(list), "piece"))
	}
	spread := r.wire.marks[last].at.Sub(r.wire.marks[first].at)
	if all := r.ended.Sub(r.began); all > time.Second && spread < all/50 {
		return warn(remedy, "%s came within %d ms after %d ms of silence", count(len(list), "piece"), spread.Milliseconds(),
			(all - spread).Milliseconds())
	}
	return pass("%s over %d ms", count(len(list), "piece"), spread.Milliseconds())
}

func terminator(ctx context.Context, p *prober) Result {
	if !p.hello(ctx).end.Evidence.Done {
		return warn("answers are taken to be whole by their finish_reason (the profile generic)",
			"the answer ended by finish_reason and the end of the body")
	}
	return pass("[DONE]")
}

func finishReason(ctx context.Context, p *prober) Result {
	finish := p.hello(ctx).end.Evidence.Finish
	if finish == "" {
		return warn("an answer that was cut for its length cannot be told from a whole one", "none came")
	}
	return pass("%s", finish)
}

func usage(ctx context.Context, p *prober) Result {
	const remedy = "tokens are estimated from the length of the text"
	u := p.hello(ctx).end.Usage
	switch {
	case p.learned.Server.NoUsage:
		return warn(remedy, "stream_options is refused")
	case u == nil || u.PromptTokens == 0 && u.CompletionTokens == 0:
		return warn(remedy, "stream_options.include_usage brings nothing")
	}
	return pass("%d of the prompt, %d of the answer", u.PromptTokens, u.CompletionTokens)
}

func framing(ctx context.Context, p *prober) Result {
	r := p.hello(ctx)
	kind, odd := r.wire.header.Get("Content-Type"), 0
	r.wire.lines(func(line string, _ int) {
		field, _, _ := strings.Cut(line, ":")
		switch field {
		case "", "data", "event", "id", "retry":
		default:
			odd++
		}
	})
	switch {
	case r.end.Evidence.Broken > 0:
		return fail("text is lost; nothing can be done on this side", "%s", count(r.end.Evidence.Broken, "broken frame"))
	case !r.wire.framed:
		return warn("an answer that is cut looks like its end where [DONE] is missing; use HTTP/1.1 all the way",
			"the end of the body cannot be told from that of the connection")
	case !strings.HasPrefix(kind, "text/event-stream"):
		return warn("other clients may not read it", "the content type is %q", kind)
	case odd > 0:
		return warn("other clients may not read it", "%s of no known field", count(odd, "line"))
	}
	return pass("%s", kind)
}

// keepAlive looks at all that has been asked so far.
func keepAlive(_ context.Context, p *prober) Result {
	longest, quiet, comments := time.Duration(0), 0, 0
	for _, w := range p.transport.wires() {
		n := w.comments()
		comments += n
		longest = max(longest, w.silence())
		if w.silence() > p.options.Silence {
			quiet++
		}
	}
	ms := longest.Milliseconds()
	if quiet > 0 {
		return warn("a proxy on the way may close the connection; have the server send keep-alives, or raise the limits",
			"%s had more than %s without a byte, the longest %d ms", count(quiet, "call"), p.options.Silence, ms)
	}
	return pass("the longest silence was %d ms; %s", ms, count(comments, "comment"))
}
