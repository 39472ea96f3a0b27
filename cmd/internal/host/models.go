package host

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// prompt makes the job from a call's arguments. All runs share the client.
func (h *Options) prompt(input json.RawMessage) (actors.Job, error) {
	var in prompt.Input
	if err := decode(input, &in); err != nil {
		return actors.Job{}, err
	}
	client, err := h.finder.clients.of(h.finder.Endpoint)
	if err != nil {
		return actors.Job{}, err
	}
	return prompt.Job(in, prompt.Config{Stream: client.Stream, Provider: h.finder.Endpoint.Host(),
		Choose: settings.LoadedModel(client)})
}

func (h *Options) preparePrompt(_ context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	var in prompt.Input
	if err := decode(arguments, &in); err != nil {
		return nil, err
	}
	in.Model = cmp.Or(in.Model, h.model, prompt.Auto)
	return json.Marshal(in)
}

type prepareInput = func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error)

// promptTool is the job prompt as a tool. It offers no fields that change the form of the request, as --extra does.
func promptTool(prepare prepareInput) mcp.JobTool {
	return mcp.JobTool{
		Job: prompt.Name, Title: "Ask a language model",
		Description: "Sends a text to the server's language model and gives its answer. Use it for a second opinion, or " +
			"for work that a local model can do.",
		Input: mcp.Object([]string{"text"},
			`"text":{"type":"string","minLength":1}`,
			`"system":{"type":"string"}`,
			`"model":{"type":"string","maxLength":256,"description":"its name, or auto for the loaded one"}`,
			`"max_tokens":{"type":"integer","minimum":1,"description":"most tokens, thoughts included"}`,
			`"temperature":{"type":"number","minimum":0,"maximum":2}`,
			`"top_p":{"type":"number","exclusiveMinimum":0,"maximum":1,"description":"share of words"}`,
			`"seed":{"type":"integer","description":"to repeat an answer"}`,
			`"stop":{"type":"array","items":{"type":"string","minLength":1},"maxItems":16}`),
		Output: json.RawMessage(answerResult), OpenWorld: true, Prepare: prepare,
	}
}

const answerResult = `{"type":"object","required":["text"],"properties":{"text":{"type":"string"},` +
	`"model":{"type":"string"},"finish_reason":{"type":"string"},` +
	`"truncated":{"type":"boolean"},"filtered":{"type":"boolean"},"usage":{"type":"object"}}}`
