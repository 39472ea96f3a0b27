package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/transport/llm"
)

// overflowMost is the longest context that is overflown: a longer prompt would take minutes, and money.
const overflowMost = 64 << 10

// preflight needs the length of the context and that of the prompt, as the server counts it.
func preflight(ctx context.Context, p *prober) Result {
	const remedy = "prompts are kept short by a guess, and one that is too long is seen only when it fails"
	info := p.info(ctx)
	if info == nil || info.Context == 0 {
		return warn(remedy, "the loaded context is not known")
	}
	words := strings.Repeat("The quick brown fox jumps over the lazy dog. ", min(40, info.Context/40+1)) +
		"Answer with: ready"
	r := p.ask(ctx, ask(words))
	if r.end.Usage == nil || r.end.Usage.PromptTokens == 0 {
		return warn(remedy, "the tokens of a prompt are not counted")
	}
	p.learned.BytesPerToken = math.Round(10*float64(len(words))/float64(r.end.Usage.PromptTokens)) / 10
	return pass("%d tokens, at %.1f bytes each", info.Context, p.learned.BytesPerToken)
}

// long asks once with a prompt that does not fit.
func (p *prober) long(ctx context.Context) *reply {
	if p.tooLong == nil {
		r := ask(strings.Repeat("lorem ", p.info(ctx).Context*9/8+256) + "Answer with the one word: ready.")
		r.MaxTokens = 16
		p.tooLong = p.ask(ctx, r)
	}
	return p.tooLong
}

// notOverflown is why no prompt is too long here.
func notOverflown(info *llm.Info) string {
	switch {
	case info == nil || info.Context == 0:
		return "the loaded context is not known"
	case info.Context > overflowMost:
		return "the context is long, and filling it takes long as well"
	}
	return ""
}

const foresee = "keep prompts within the loaded context: budgets are taken from it where the server tells it"

func overflow(ctx context.Context, p *prober) Result {
	if why := notOverflown(p.info(ctx)); why != "" {
		return skip("%s", why)
	}
	r := p.long(ctx)
	if r.end.Evidence.Stopped != "" {
		return skip("no answer came in time: %s", r.why())
	}
	form := overflowForm(r)
	p.learned.Overflow = form
	switch form {
	case "status":
		return pass("%s", r.why())
	case "frame":
		return warn(foresee, "inside the answer: %s", r.why())
	case "drop":
		return fail(foresee, "it was answered all the same: a part of the prompt was dropped")
	case "empty":
		return fail(foresee, "the answer was empty")
	}
	return fail(foresee, "%s", r.why())
}

// overflowForm is "status", "frame", "empty" or "drop", or "" where the connection went.
func overflowForm(r *reply) string {
	e := r.end.Evidence
	switch {
	case r.ok():
		return "drop"
	case e.Failure != nil && e.Status >= 400:
		return "status"
	case e.Failure != nil:
		return "frame"
	case !e.Output && e.Done:
		return "empty"
	}
	return ""
}

// overflowEmpty is about the form that looks like success.
func overflowEmpty(ctx context.Context, p *prober) Result {
	if why := notOverflown(p.info(ctx)); why != "" {
		return skip("%s", why)
	}
	switch r := p.long(ctx); {
	case r.end.Evidence.Stopped != "":
		return skip("no answer came in time: %s", r.why())
	case overflowForm(r) == "empty":
		return fail(foresee, "[DONE] without a word, finish_reason %q", r.end.Evidence.Finish)
	}
	return pass("the form is: %s", p.overflowWords())
}

func (p *prober) overflowWords() string {
	switch overflowForm(p.tooLong) {
	case "status":
		return "refused before the answer"
	case "frame":
		return "an error inside the answer"
	case "drop":
		return "a part of the prompt is dropped"
	}
	return "the connection goes"
}

// errorModel asks for a model that is not there.
func errorModel(ctx context.Context, p *prober) Result {
	r := ask("Answer with the one word: ready")
	r.Model = "no-such-model-lastword"
	return refusal(p.ask(ctx, r),
		"another model answers for it; compare the names of the model that was asked and that answered")
}

// errorField gives a number that is none.
func errorField(ctx context.Context, p *prober) Result {
	r := ask("Answer with the one word: ready")
	r.Extra = map[string]json.RawMessage{"temperature": json.RawMessage(`"hot"`)}
	return refusal(p.ask(ctx, r), "mistakes in a request go unnoticed: check answers for what was asked")
}

func refusal(r *reply, ignored string) Result {
	const remedy = "an error of this server says little; see its own log"
	e := r.end.Evidence
	switch {
	case r.ok():
		return warn(ignored, "it was answered, by %q", r.end.Model)
	case e.Failure == nil:
		return fail(remedy, "%s", r.why())
	case e.Status < 400:
		return warn(remedy, "http %d, and then: %s", e.Status, r.why())
	case e.Status >= 500:
		return fail(remedy, "%s", r.why())
	case !shaped(r.wire.body):
		return warn("clients that expect OpenAI's form of an error show nothing", "%s", r.why())
	}
	return pass("%s", r.why())
}

// shaped says that the error has OpenAI's form.
func shaped(body []byte) bool {
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	return json.Unmarshal(bytes.TrimSpace(body), &said) == nil && said.Error.Message != ""
}

// busy are the answers that say so.
func busy(wires []*wire) []*wire {
	return slices.DeleteFunc(wires, func(w *wire) bool { return w.status != 429 && w.status != 503 })
}
