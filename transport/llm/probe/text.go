package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// repeated has the model say something again, and judges what came. Not every model repeats exactly; what counts is that
// nothing was broken on the way.
func repeated(ctx context.Context, p *prober, words, sure string) Result {
	const remedy = "the server, or something on the way, breaks characters; look for its newer version"
	r := p.ask(ctx, ask("Repeat the following line exactly, and say nothing else:\n"+words))
	switch {
	case !r.ok():
		return warn(remedy, "%s", r.why())
	case strings.ContainsRune(r.text, '\uFFFD'):
		return fail(remedy, "a character came broken: %q", fitted(r.text, 80))
	case strings.Contains(r.text, words):
		return pass("%q", words)
	case strings.Contains(r.text, sure):
		return pass("%q, though not word by word", fitted(r.text, 80))
	}
	return warn("the model did not repeat what it was told; try another one", "%q", fitted(r.text, 80))
}

func letters(ctx context.Context, p *prober) Result {
	return repeated(ctx, p, "Grüße, Ελληνικά, русский, 日本語, 한국어, ไทย", "日本語")
}

func emoji(ctx context.Context, p *prober) Result {
	return repeated(ctx, p, "🎉🚀👩‍🚀🏳️‍🌈 𝔸𝔹ℂ 🎉", "🎉")
}

const longLine = 16 << 10

// longLines sends one line of 16 KiB, or of what surely fits.
func longLines(ctx context.Context, p *prober) Result {
	n := longLine
	if info := p.info(ctx); info != nil && info.Context > 0 {
		n = min(n, info.Context)
	}
	words := strings.Repeat("lorem ", n/len("lorem ")+1)[:n]
	r := p.ask(ctx, ask("What follows is filling. Answer with the one word: ready. "+words))
	if !r.ok() {
		return fail("raise the limits of what is on the way to the server", "a line of %d bytes: %s", n, r.why())
	}
	return pass("%d bytes", n)
}

// refusing says whether the request fails for its field alone, and remembers the field.
func (p *prober) refusing(r *reply, field string) bool {
	if !r.refused() {
		return false
	}
	if !slices.Contains(p.learned.Server.Refuses, field) {
		p.learned.Server.Refuses = append(p.learned.Server.Refuses, field)
	}
	return true
}

func stop(ctx context.Context, p *prober) Result {
	const remedy = "do not rely on stop strings with this server"
	r := ask("Repeat the following line exactly, and say nothing else:\nalpha bravo STOPHERE charlie delta")
	r.Stop = []string{"STOPHERE"}
	out := p.ask(ctx, r)
	switch {
	case p.refusing(out, "stop"):
		return warn("the field is left out", "%s", out.why())
	case !out.ok() && out.text == "":
		return warn(remedy, "%s", out.why())
	case out.says("STOPHERE"), out.says("charlie"):
		return fail(remedy, "the answer goes past the stop string: %q", fitted(out.text, 80))
	case !out.says("bravo"):
		return warn("the model did not repeat what it was told; try another one", "%q", fitted(out.text, 80))
	}
	return pass("%q, finish_reason %s", fitted(out.text, 80), out.end.Evidence.Finish)
}

func maxTokens(ctx context.Context, p *prober) Result {
	const most = 16
	r := ask("Count from 1 to 300 in words, one number a line, and leave none out:\n" + counting(300))
	r.MaxTokens = most
	out := p.ask(ctx, r)
	switch {
	case !out.ok():
		return fail("give no --max-tokens to this server", "%s", out.why())
	case out.end.Verdict.Truncated && len(out.text)+len(out.thought) < 40*most:
		return pass("%d bytes, finish_reason length", len(out.text)+len(out.thought))
	case len(out.text)+len(out.thought) < 40*most:
		return warn("an answer that was cut cannot be told from a whole one", "the answer has %d bytes and finish_reason %q",
			len(out.text), out.end.Evidence.Finish)
	}
	return fail("answers may be of any length: give --max-answer and a --timeout", "%d tokens were allowed, and %d bytes came",
		most, len(out.text)+len(out.thought))
}

// counting has the beginning of the numbers, so that no model answers with a summary.
func counting(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", i+1)
	}
	return b.String()
}

// taken asks with a field that servers take or refuse.
func taken(ctx context.Context, p *prober, r model.Request, field, value string) Result {
	out := p.ask(ctx, r)
	switch {
	case p.refusing(out, field):
		return warn("the field is left out", "%s", out.why())
	case !out.ok():
		return warn("the field is better left out", "%s", out.why())
	}
	return pass("%s %s", field, value)
}

func temperature(ctx context.Context, p *prober) Result {
	r := ask("Answer with the one word: ready")
	r.Temperature = new(0.0)
	return taken(ctx, p, r, "temperature", "0")
}

func seed(ctx context.Context, p *prober) Result {
	r := ask("Answer with the one word: ready")
	r.Seed = new(int64(7))
	return taken(ctx, p, r, "seed", "7")
}

// extraFields offers each alone, to know which one is at fault.
func extraFields(ctx context.Context, p *prober) Result {
	fields := map[string]string{"ttl": "300", "top_k": "40", "chat_template_kwargs": "{}"}
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		r := ask("Answer with the one word: ready")
		r.Extra = map[string]json.RawMessage{name: json.RawMessage(fields[name])}
		if out := p.ask(ctx, r); p.refusing(out, name) || !out.ok() {
			refused = append(refused, name)
		}
	}
	if len(refused) > 0 {
		return warn("they are left out", "it does not take %s", strings.Join(refused, ", "))
	}
	return pass("%s", strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

func system(ctx context.Context, p *prober) Result {
	r := ask("What is the secret word? Answer with it alone.")
	r.Messages = append([]model.Message{{Role: model.System,
		Content: "The secret word is marmalade. You tell it to everybody who asks."}}, r.Messages...)
	return told(ctx, p, r, "marmalade", "put what matters into the user's message")
}

func turns(ctx context.Context, p *prober) Result {
	r := ask("Which animal do I have, and of which colour? Answer in two words.")
	r.Messages = append([]model.Message{
		{Role: model.User, Content: "I have a green parrot."},
		{Role: model.Assistant, Content: "A parrot is good company."},
	}, r.Messages...)
	return told(ctx, p, r, "parrot", "put all that matters into one message")
}

// told asks for a word that only an earlier message has.
func told(ctx context.Context, p *prober, r model.Request, word, remedy string) Result {
	out := p.ask(ctx, r)
	switch {
	case !out.ok():
		return warn(remedy, "%s", out.why())
	case !out.says(word):
		return warn(remedy, "%q does not say %s", fitted(out.text, 80), word)
	}
	return pass("%q", fitted(out.text, 80))
}
