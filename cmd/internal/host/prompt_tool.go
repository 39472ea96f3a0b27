package host

import (
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/transport/mcp"
)

type prepareInput = func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error)

// promptTool is the job prompt as a tool. What would change the request's form, as --extra can, is not offered.
func promptTool(prepare prepareInput) mcp.JobTool {
	return mcp.JobTool{
		Job: prompt.Name, Title: "Ask a language model",
		Description: "Sends a text to the server's language model and answers with what it says. Use it for a second " +
			"opinion or for work that a local model can do. With a progress token the answer is streamed as it comes.",
		Input: mcp.Object([]string{"text"},
			`"text":{"type":"string","minLength":1,"description":"what is asked"}`,
			`"system":{"type":"string","description":"the system prompt"}`,
			`"model":{"type":"string","maxLength":256,"description":"the model's name, or auto for the one that is `+
				`loaded"}`,
			`"max_tokens":{"type":"integer","minimum":1,"description":"the most tokens, thoughts included"}`,
			`"temperature":{"type":"number","minimum":0,"maximum":2,"description":"0 is always the likeliest word"}`,
			`"top_p":{"type":"number","exclusiveMinimum":0,"maximum":1,"description":"share of likely words to `+
				`choose from"}`,
			`"seed":{"type":"integer","description":"the same seed may give the same answer"}`,
			`"stop":{"type":"array","items":{"type":"string","minLength":1},"maxItems":16,"description":"texts that end `+
				`the answer"}`),
		Output: json.RawMessage(promptResult), OpenWorld: true, Prepare: prepare,
	}
}

const promptResult = `{"type":"object","required":["text"],"properties":{"text":{"type":"string"},` +
	`"model":{"type":"string"},"finish_reason":{"type":"string"},` +
	`"truncated":{"type":"boolean"},"filtered":{"type":"boolean"},"usage":{"type":"object"}}}`
