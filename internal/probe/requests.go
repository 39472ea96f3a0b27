package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages/model"
)

// again is the remedy for failures of the server itself.
const again = "see the server's log, and check again"

// ready is a prompt with a short answer.
const ready = "Answer with the one word: ready"

// fields sends each optional field on its own, and records those that the server refuses.
func fields(ctx context.Context, p *prober) Result {
	optional := map[string]string{"chat_template_kwargs": "{}", "seed": "7", "stop": `["STOP"]`, "temperature": "0",
		"top_k": "40", "ttl": "300"}
	var refused []string
	fault := ""
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		r := ask(ready)
		r.Extra = map[string]json.RawMessage{name: json.RawMessage(optional[name])}
		out := p.ask(ctx, r)
		switch status := out.end.Evidence.Status; {
		case status == 400 || status == 422:
			refused = append(refused, name)
		case !out.ok():
			fault = cmp.Or(fault, name+": "+out.why())
		}
	}
	p.learned.Server.Refuses = refused
	switch {
	case len(refused) > 0:
		return warn("the commands leave them out", "the server refuses %s", strings.Join(refused, ", "))
	case fault != "":
		return warn(again, "%s", fault)
	}
	return pass("%s", strings.Join(slices.Sorted(maps.Keys(optional)), ", "))
}

// maxTokens checks that the server respects the limit of an answer.
func maxTokens(ctx context.Context, p *prober) Result {
	const most = 16
	r := ask(counting)
	r.MaxTokens = most
	out := p.ask(ctx, r)
	bytes := len(out.raw) + len(out.field)
	switch {
	case out.broke():
		return warn(again, "%s", out.why())
	case !out.ok():
		return fail("give no --max-tokens to this server", "%s", out.why())
	case bytes >= 40*most:
		return fail("limit answers with --max-answer and --timeout instead", "%d tokens were allowed, and %d bytes came", most, bytes)
	case !out.end.Verdict.Truncated:
		return warn("an answer that was cut looks complete; give no --max-tokens to this server",
			"the answer has %d bytes and finish_reason %q", len(out.text), out.end.Evidence.Finish)
	}
	return pass("%d bytes, finish_reason length", bytes)
}

func thinkAloud() model.Request {
	return ask("What is 17 times 23? Think it through, then give the number.")
}

// thoughts determines how the model marks its thoughts.
func thoughts(ctx context.Context, p *prober) Result {
	r := p.ask(ctx, thinkAloud())
	if !r.ok() {
		return warn("thoughts may appear in the answer", "%s", r.why())
	}
	p.thinks = r.field != "" || r.thought != "" || r.stray
	switch {
	case r.field != "" && (r.thought != "" || r.stray):
		return warn("configure the server's reasoning parser", "thoughts come in a separate field and in the text")
	case r.field != "":
		return pass("in a separate field")
	case r.stray:
		p.learned.Server.Thoughts = string(decode.Implicit)
		return warn("configure the server's reasoning parser; until then the commands go by the profile",
			"the answer begins inside a thought: %q", words.Clip(r.raw, 80))
	case r.thought != "":
		return pass("between tags in the text: %q", words.Clip(r.raw, 80))
	}
	return pass("the model sends no thoughts")
}

// thoughtsOff tries the fields that may switch thinking off.
func thoughtsOff(ctx context.Context, p *prober) Result {
	if hello := p.hello(ctx); !p.thinks && hello.field == "" && hello.thought == "" {
		return skip("the model sends no thoughts")
	}
	for _, field := range [][2]string{{"chat_template_kwargs", `{"enable_thinking":false}`}, {"reasoning_effort", `"none"`},
		{"think", "false"}} {
		r := thinkAloud()
		r.Extra = map[string]json.RawMessage{field[0]: json.RawMessage(field[1])}
		out := p.ask(ctx, r)
		text, thought, stray := split(out.raw, decode.Auto) // without thoughts it does not begin inside one
		if out.ok() && text != "" && thought == "" && out.field == "" && !stray {
			p.learned.Server.Off = r.Extra
			return pass("with %s", field[0])
		}
	}
	return warn("allow for longer answers: raise --max-tokens", "no known field switches them off")
}

// weather returns a request that offers a tool. choice is "auto", or the tool's name to force a call.
func weather(text, choice string) model.Request {
	r := ask(text)
	r.Tools = []model.Tool{{Name: "get_weather", Description: "Reports the weather in a city.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)}}
	r.Choice = choice
	return r
}

// tool checks that the model calls a tool that is offered.
func tool(ctx context.Context, p *prober) Result {
	const remedy = "work without tools, or use a model that was trained for them"
	r := p.ask(ctx, weather("What is the weather in Paris? Use the tool get_weather.", "auto"))
	switch fault := uncalled(r); {
	case r.broke():
		return warn(again, "%s", fault)
	case fault != "":
		return warn(remedy, "%s", fault)
	case !json.Valid([]byte(r.end.Calls[0].Arguments)), !strings.Contains(r.end.Calls[0].Arguments, "Paris"):
		return fail(remedy, "the arguments are %s", r.end.Calls[0].Arguments)
	}
	return pass("get_weather %s", r.end.Calls[0].Arguments)
}

// uncalled says why the reply does not call the tool, or "".
func uncalled(r *reply) string {
	switch {
	case !r.ok():
		return r.why()
	case len(r.end.Calls) == 0:
		return fmt.Sprintf("the model called no tool and said %q", words.Clip(r.text, 80))
	case r.end.Calls[0].Name != "get_weather":
		return fmt.Sprintf("the model called %q, which was not offered", r.end.Calls[0].Name)
	}
	return ""
}

// format is one way to request JSON, by its name in structured.LevelOf.
type format struct {
	name    string
	request model.Request
	fault   func(*reply) string // says why the reply is not what was requested, or ""
}

// formats lists the ways to request JSON, the strictest first.
func formats() []format {
	fruit := func(strict bool) model.Request {
		// The question does not mention the schema, so only a server that enforces it gives such an answer.
		r := ask("Tell me about a lemon, as JSON.")
		r.Format = &model.Format{Name: "fruit", Strict: strict, Schema: json.RawMessage(
			`{"type":"object","properties":{"zest":{"type":"string"},"colour":{"type":"string","enum":["red","green","yellow"]}},` +
				`"required":["zest","colour"],"additionalProperties":false}`)}
		return r
	}
	object := ask(`Give me a JSON object with the member "answer", whose value is the number 42. Nothing but JSON.`)
	object.Format = &model.Format{}
	return []format{
		{"json_schema strict", fruit(true), notFruit},
		{"json_schema", fruit(false), notFruit},
		{"json_object", object, func(r *reply) string { return notJSON(r, new(map[string]any)) }},
		{"tool call", weather("Good morning! I am in Oslo.", "get_weather"), uncalled},
	}
}

// structured finds the strictest way to get JSON from the server. If a failure of the server or an incomplete answer
// leaves the question open, nothing is learned, and the commands will start with the strictest way.
func structured(ctx context.Context, p *prober) Result {
	list := formats()
	wrong, open := "", ""
	for i, f := range list {
		r := p.ask(ctx, f.request)
		fault := f.fault(r)
		switch {
		case fault == "" && open == "":
			p.learned.Structured = f.name
			if i == 0 {
				return pass("%s", f.name)
			}
			return warn("the commands use the weaker "+f.name, "%s fails: %s", list[0].name, wrong)
		case fault == "":
			return warn(again, "%s works; %s", f.name, open)
		case r.broke():
			open = cmp.Or(open, f.name+" is not known: "+r.why())
		case r.end.Verdict.Truncated && strings.HasPrefix(strings.TrimSpace(r.text), "{"):
			open = cmp.Or(open, fmt.Sprintf("%s is not known: the answer was cut after %d bytes", f.name, len(r.text)))
		default:
			wrong = cmp.Or(wrong, fault)
		}
	}
	if open != "" {
		return warn(again, "%s", open)
	}
	if ctx.Err() == nil {
		p.learned.Structured = "prompt"
	}
	return warn("expect repeated questions; use a server or a model that keeps to a schema",
		"the server enforces no JSON; only the prompt can ask for it")
}

// notFruit says how the answer breaks the schema of a fruit, or returns "".
func notFruit(r *reply) string {
	var f struct {
		Zest   *string `json:"zest"`
		Colour string  `json:"colour"`
	}
	if fault := notJSON(r, &f); fault != "" {
		return fault
	}
	if f.Zest == nil || !slices.Contains([]string{"red", "green", "yellow"}, f.Colour) {
		return fmt.Sprintf("the answer does not keep to the schema: %q", words.Clip(r.text, 80))
	}
	return ""
}

// notJSON decodes the answer into out. It says why it cannot, or returns "".
func notJSON(r *reply, out any) string {
	d := json.NewDecoder(strings.NewReader(r.text))
	d.DisallowUnknownFields()
	switch {
	case !r.ok():
		return r.why()
	case r.onlyThought():
		return "only a thought came, and no answer"
	case d.Decode(out) != nil || d.More():
		return fmt.Sprintf("the answer does not keep to the schema: %q", words.Clip(r.text, 80))
	}
	return ""
}
