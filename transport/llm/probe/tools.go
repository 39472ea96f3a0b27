package probe

import (
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/messages/model"
)

const noTools = "do without tools, or take a model that was made for them"

func weatherTool() model.Tool {
	return model.Tool{Name: "get_weather", Description: "Tells the weather of a city.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)}
}

func withTool(text, choice string) model.Request {
	r := ask(text)
	r.Tools, r.Choice = []model.Tool{weatherTool()}, choice
	return r
}

// call asks once for what two checks look at.
func (p *prober) call(ctx context.Context) *reply {
	if p.weather == nil {
		p.weather = p.ask(ctx, withTool("What is the weather in Paris? Use the tool get_weather.", "auto"))
	}
	return p.weather
}

func tool(ctx context.Context, p *prober) Result {
	r := p.call(ctx)
	switch {
	case !r.ok():
		return warn(noTools, "%s", r.why())
	case len(r.end.Calls) == 0:
		return warn(noTools, "no call came, but %q", fitted(r.text, 80))
	case r.end.Calls[0].Name != "get_weather":
		return warn(noTools, "%q was called, which was not offered", r.end.Calls[0].Name)
	}
	return pass("get_weather %s", r.end.Calls[0].Arguments)
}

func toolArguments(ctx context.Context, p *prober) Result {
	r := p.call(ctx)
	if !r.ok() || len(r.end.Calls) == 0 {
		return skip("no tool was called")
	}
	if got := r.end.Calls[0].Arguments; city(got) == "" {
		return fail(noTools, "the arguments are %s", got)
	}
	return pass("%s", r.end.Calls[0].Arguments)
}

// city is that of a call's arguments, "" where they are not what was asked for.
func city(arguments string) string {
	var got struct {
		City string `json:"city"`
	}
	if json.Unmarshal([]byte(arguments), &got) != nil {
		return ""
	}
	return got.City
}

func toolParallel(ctx context.Context, p *prober) Result {
	const question = "What is the weather in Paris and in Rome? Call get_weather for both cities at once."
	r := p.ask(ctx, withTool(question, "auto"))
	switch calls := r.end.Calls; {
	case !r.ok():
		return warn(noTools, "%s", r.why())
	case len(calls) < 2:
		return warn("one call is made after the other", "%s came", count(len(calls), "call"))
	case calls[0].ID == calls[1].ID || city(calls[0].Arguments) == "" || city(calls[1].Arguments) == "":
		return warn("ask for one call at a time", "the calls are mixed up: %s and %s", calls[0].Arguments, calls[1].Arguments)
	}
	return pass("%s", count(len(r.end.Calls), "call"))
}

// toolChoice asks for something that no tool is needed for.
func toolChoice(ctx context.Context, p *prober) Result {
	r := p.ask(ctx, withTool("Good morning! I am in Oslo.", "get_weather"))
	switch {
	case !r.ok():
		return warn("a call can be asked for in words only", "%s", r.why())
	case len(r.end.Calls) == 0:
		return warn("a call can be asked for in words only", "tool_choice is not heeded: %q", fitted(r.text, 80))
	}
	return pass("%s %s", r.end.Calls[0].Name, r.end.Calls[0].Arguments)
}

func toolResult(ctx context.Context, p *prober) Result {
	r := withTool("What is the weather in Paris? Use the tool get_weather.", "auto")
	r.Messages = append(r.Messages,
		model.Message{Role: model.Assistant, Calls: []model.ToolCall{
			{ID: "call00001", Name: "get_weather", Arguments: `{"city":"Paris"}`}}},
		model.Message{Role: model.ToolRole, CallID: "call00001", Content: "It rains frogs in Paris."})
	return told(ctx, p, r, "frog", noTools)
}
