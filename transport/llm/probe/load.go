package probe

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
)

const counted = "Count from 1 to 300 in words, one number a line, and leave none out."

// cancel leaves a long answer after its first token. A server that goes on with it serves the next one late.
func cancel(ctx context.Context, p *prober) Result {
	const remedy = "the server goes on with answers that nobody reads; give --max-tokens, and expect waits after a cancel"
	left := p.follow(ctx, ask(counted), p.options.Patience, func(part model.Part) bool {
		_, end := part.(model.End)
		return end
	})
	if left.first.IsZero() {
		return skip("the long answer did not begin: %s", left.why())
	}
	soon := min(max(p.options.Soon, 3*p.hello(ctx).end.FirstToken), p.options.Patience)
	r := p.askWithin(ctx, ask("Answer with the one word: ready"), soon)
	if !r.ok() && r.first.IsZero() {
		return warn(remedy, "after a cancel the next answer did not begin within %s: %s", soon, r.why())
	}
	return pass("the next answer began after %d ms", r.first.Sub(r.began).Milliseconds())
}

// reuse looks whether the second of two calls in a row has the first one's connection.
func reuse(ctx context.Context, p *prober) Result {
	const remedy = "each answer costs a new connection; look for a Connection: close in the server's or a proxy's settings"
	if first := p.ask(ctx, ask("Answer with the one word: ready")); !first.ok() {
		return skip("%s", first.why())
	}
	r := p.ask(ctx, ask("Answer with the one word: steady"))
	switch {
	case !r.ok():
		return warn(remedy, "%s", r.why())
	case r.wire.reused:
		return pass("two answers came on one connection")
	}
	return warn(remedy, "the second answer needed a connection of its own")
}

// several asks n times at once.
func (p *prober) several(ctx context.Context, n int, r model.Request) []*reply {
	p.info(ctx) // is not to be asked for by several at once
	replies := make([]*reply, n)
	var group sync.WaitGroup
	for i := range replies {
		group.Go(func() { replies[i] = p.ask(ctx, r) })
	}
	group.Wait()
	return replies
}

// concurrency has two answers at once: each must have begun before the other is over.
func concurrency(ctx context.Context, p *prober) Result {
	const remedy = "answers wait for each other; raise the number of slots if the server has them, or run one job at a time"
	r := ask(counted)
	r.MaxTokens = 128
	two := p.several(ctx, 2, r)
	for _, one := range two {
		if !one.ok() {
			return warn(remedy, "one of two at once: %s", one.why())
		}
	}
	a, b := two[0].wire, two[1].wire
	if a.begun().After(b.ended) || b.begun().After(a.ended) {
		wait := a.begun().Sub(b.begun()).Abs().Round(time.Millisecond)
		return warn(remedy, "the second began %s after the first, when that was over", wait)
	}
	return pass("both came side by side")
}

// retryAfter asks eight times at once for a word. Most servers make them wait, and some refuse.
func retryAfter(ctx context.Context, p *prober) Result {
	r := ask("Answer with the one word: ready")
	r.MaxTokens = 1
	p.several(ctx, 8, r)
	list := busy(p.transport.wires())
	if len(list) == 0 {
		return skip("eight questions at once did not overload it")
	}
	for _, w := range list {
		if w.header.Get("Retry-After") == "" && w.header.Get("Retry-After-Ms") == "" {
			return warn("tries are spaced out by a guess", "http %d without Retry-After", w.status)
		}
	}
	return pass("http %d with Retry-After: %s", list[0].status, list[0].header.Get("Retry-After"))
}
