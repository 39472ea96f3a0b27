package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// fruit is a schema in an order that is not the alphabet's. What is asked for does not say it, so that only a server
// that keeps to it gives such an answer.
const (
	fruitSchema = `{"type":"object","properties":{"zest":{"type":"string"},"apple":{"type":"boolean"},` +
		`"mass":{"type":"integer"},"colour":{"type":"string","enum":["red","green","yellow"]}},` +
		`"required":["zest","apple","mass","colour"],"additionalProperties":false}`
	fruitQuestion = "Tell me about a lemon, as JSON."
	stepDown      = "the next weaker means is used"
)

func fruitOrder() []string { return []string{"zest", "apple", "mass", "colour"} }

func jsonObject(ctx context.Context, p *prober) Result {
	r := ask("Give me a JSON object with the member \"answer\", whose value is the number 42. Nothing but JSON.")
	r.Format = &model.Format{}
	out := p.ask(ctx, r)
	if status := unformatted(out); status.Status != "" {
		return status
	}
	var object map[string]any
	if json.Unmarshal([]byte(out.text), &object) != nil {
		return warn(stepDown, "it is no JSON object: %q", fitted(out.text, 80))
	}
	return pass("%s", fitted(out.text, 80))
}

// unformatted is what to say of an answer that cannot be looked at; its Status is empty for one that can.
func unformatted(r *reply) Result {
	switch {
	case !r.ok():
		return warn(stepDown, "%s", r.why())
	case r.text == "" && json.Valid([]byte(strings.TrimSpace(r.thought))):
		return warn("switch thoughts off for such questions", "the JSON came as a thought")
	case r.onlyThought():
		return warn("switch thoughts off for such questions", "no answer came, but %d bytes of thought", len(r.thought))
	}
	return Result{}
}

func (p *prober) fruit(ctx context.Context, strict bool) *reply {
	r := ask(fruitQuestion)
	r.Format = &model.Format{Name: "fruit", Schema: json.RawMessage(fruitSchema), Strict: strict}
	return p.ask(ctx, r)
}

func jsonSchema(ctx context.Context, p *prober) Result { return fits(p.fruit(ctx, false)) }

func jsonStrict(ctx context.Context, p *prober) Result {
	p.strict = p.fruit(ctx, true)
	return fits(p.strict)
}

func fits(r *reply) Result {
	if status := unformatted(r); status.Status != "" {
		return status
	}
	if why := unfit(r.text); why != "" {
		return warn(stepDown, "%s: %q", why, fitted(r.text, 80))
	}
	return pass("%s", fitted(r.text, 80))
}

// unfit says where the answer is not of the schema.
func unfit(text string) string {
	var f struct {
		Zest   *string `json:"zest"`
		Apple  *bool   `json:"apple"`
		Mass   *int    `json:"mass"`
		Colour *string `json:"colour"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(&f); {
	case err != nil:
		return "it is not of the schema"
	case f.Zest == nil || f.Apple == nil || f.Mass == nil || f.Colour == nil:
		return "something required is missing"
	case !slices.Contains([]string{"red", "green", "yellow"}, *f.Colour):
		return "the colour is none of the three"
	}
	return ""
}

func schemaOrder(ctx context.Context, p *prober) Result {
	if p.strict == nil {
		p.strict = p.fruit(ctx, true)
	}
	out := p.strict
	if !out.ok() || unfit(out.text) != "" {
		if out = p.fruit(ctx, false); !out.ok() || unfit(out.text) != "" {
			return skip("no answer keeps to a schema")
		}
	}
	got := members(out.text)
	if !slices.Equal(got, fruitOrder()) {
		return warn("the field that is streamed may come last", "asked was %s, and %s came", strings.Join(fruitOrder(), ", "),
			strings.Join(got, ", "))
	}
	return pass("%s", strings.Join(got, ", "))
}

// members are the names in an object without objects, in their order.
func members(text string) (names []string) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	for i := 0; ; i++ {
		token, err := d.Token()
		if err != nil {
			return names
		}
		if name, ok := token.(string); ok && i%2 == 1 {
			names = append(names, name)
		}
	}
}
