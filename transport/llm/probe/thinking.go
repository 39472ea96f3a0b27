package probe

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed889630bf/lastword/messages/model/decode"
)

// found is what opens and ends a thought, and the dialect that has it so.
type found struct {
	open, end string
	dialect   decode.Dialect
}

// marks are what thoughts are told by in the text of an answer.
func marks() []found {
	return []found{
		{"<|channel|>analysis", "<|end|>", decode.Harmony},
		{"<|channel>thought", "<channel|>", decode.Gemma},
		{"<|think|>", "<|/think|>", decode.Gemma},
		{"[think]", "[/think]", decode.Mistral},
		{"<thinking", "</thinking>", decode.Tags},
		{"<thought", "</thought>", decode.Tags},
		{"<reasoning", "</reasoning", decode.Tags},
		{"<mm:think>", "</mm:think>", decode.Tags},
		{"<think>", "</think>", decode.Tags},
	}
}

// thoughts looks for the way in which this model marks its thoughts.
func thoughts(ctx context.Context, p *prober) Result {
	r := p.ask(ctx, ask("What is 17 times 23? Think it through, then give the number."))
	if !r.ok() {
		return warn("thoughts may stand in the answer", "%s", r.why())
	}
	lower, field := r.wire.spoken()
	if field != "" {
		p.learned.ThoughtField = field
		if found, leaked := marked(lower); leaked {
			return warn("have the server parse thoughts; here they are in a field and, in part, in the text",
				"the field %s, and %s in the text", field, found.open)
		}
		return pass("the field %s", field)
	}
	found, ok := marked(lower)
	switch {
	case !ok:
		return pass("the model does not think aloud")
	case !strings.Contains(lower, found.open):
		p.learned.Server.Thoughts = string(decode.Implicit)
		return warn("the profile says so, and the client that uses it reads it rightly; better is a server that parses thoughts",
			"the answer begins inside a thought that %s ends", found.end)
	}
	p.learned.Server.Thoughts = string(found.dialect)
	return pass("%s in the text, dialect %s", found.open, found.dialect)
}

// spoken is the text as the server sent it, in lower case, and the field that had thoughts, if one had.
func (w *wire) spoken() (lower, field string) {
	for _, d := range w.deltas() {
		lower += d.content
		if f := d.field(); f != "" {
			field = f
		}
	}
	return strings.ToLower(lower), field
}

func marked(lower string) (found, bool) {
	for _, m := range marks() {
		if strings.Contains(lower, m.open) || strings.Contains(lower, m.end) {
			return m, true
		}
	}
	return found{}, false
}

// switches are the fields by which servers are told not to think.
func switches() []map[string]json.RawMessage {
	return []map[string]json.RawMessage{
		{"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false}`)},
		{"reasoning_effort": json.RawMessage(`"none"`)},
		{"think": json.RawMessage(`false`)},
	}
}

func thoughtsOff(ctx context.Context, p *prober) Result {
	if l := p.learned; l.ThoughtField == "" && l.Server.Thoughts == "" && p.hello(ctx).thought == "" {
		return skip("the model does not think aloud")
	}
	for _, fields := range switches() {
		r := ask("What is 17 times 23? Think it through, then give the number.")
		r.Extra = fields
		out := p.ask(ctx, r)
		lower, field := out.wire.spoken()
		if _, thinks := marked(lower); out.ok() && field == "" && !thinks && lower != "" {
			p.off, p.learned.Server.Off = fields, fields
			for name := range fields {
				return pass("by %s", name)
			}
		}
	}
	return warn("answers take longer, and may have to be given more tokens", "no field that is known stops them")
}
