package openai

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
)

// options are what both APIs take with the same names.
type options struct {
	Model       string            `json:"model"`
	Stream      bool              `json:"stream"`
	Temperature *float64          `json:"temperature"`
	TopP        *float64          `json:"top_p"`
	Metadata    map[string]string `json:"metadata"`
	Tools       []json.RawMessage `json:"tools"`
}

// form is what an answer must look like.
type form struct {
	Type string `json:"type"`
}

// check refuses what would be left out silently otherwise.
func (o *options) check(f form) error {
	switch {
	case len(o.Tools) > 0:
		return messages.InvalidInput("tools are the server's own here; leave tools out")
	case f.Type != "" && f.Type != "text":
		return messages.InvalidInput("an answer is a text; a format of the type %.50q is not offered", f.Type)
	}
	return nil
}

// completionRequest is the body of POST /v1/chat/completions.
type completionRequest struct {
	options
	Messages            []said          `json:"messages"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Seed                *int64          `json:"seed"`
	Stop                json.RawMessage `json:"stop"`
	N                   int             `json:"n"`
	Format              form            `json:"response_format"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// responseRequest is the body of POST /v1/responses.
type responseRequest struct {
	options
	Input           json.RawMessage `json:"input"`
	Instructions    string          `json:"instructions"`
	Background      bool            `json:"background"`
	Previous        string          `json:"previous_response_id"`
	Conversation    json.RawMessage `json:"conversation"`
	MaxOutputTokens int             `json:"max_output_tokens"`
	Text            struct {
		Format form `json:"format"`
	} `json:"text"`
}

// said is a message, or another item of a response's input.
type said struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
}

// turn is what the client says.
func (q *completionRequest) turn() (turn dialect.Turn, err error) {
	turn = dialect.Turn{MaxTokens: max(q.MaxTokens, q.MaxCompletionTokens), Temperature: q.Temperature, TopP: q.TopP, Seed: q.Seed}
	var stop string
	if json.Unmarshal(q.Stop, &stop) == nil && stop != "" {
		turn.Stop = []string{stop}
	} else if len(q.Stop) > 0 && json.Unmarshal(q.Stop, &turn.Stop) != nil {
		return turn, messages.InvalidInput("stop must be a text or an array of texts")
	}
	if err := q.check(q.Format); err != nil {
		return turn, err
	}
	if q.N > 1 {
		return turn, messages.InvalidInput("n must be 1: each answer is a run of its own")
	}
	for _, m := range q.Messages {
		text, err := dialect.TextOf(m.Content)
		if err == nil {
			err = turn.Add(m.Role, text)
		}
		if err != nil {
			return turn, err
		}
	}
	return turn, turn.Close()
}

// turn is what the client says after what was said before; answers are what it answers, by the question.
func (q *responseRequest) turn(before dialect.Turn) (turn dialect.Turn, answers map[string]string, err error) {
	turn = before
	turn.System, turn.MaxTokens, turn.Temperature, turn.TopP = q.Instructions, q.MaxOutputTokens, q.Temperature, q.TopP
	if err := q.check(q.Text.Format); err != nil {
		return turn, nil, err
	}
	var text string
	items := []said{{Role: "user", Content: q.Input}}
	if json.Unmarshal(q.Input, &text) != nil {
		if err := json.Unmarshal(q.Input, &items); err != nil {
			return turn, nil, messages.InvalidInput("input must be a text or an array of items: %v", err)
		}
	}
	answers = map[string]string{}
	for _, item := range items {
		switch item.Type {
		case "", "message":
			text, err := dialect.TextOf(item.Content)
			if err == nil {
				err = turn.Add(item.Role, text)
			}
			if err != nil {
				return turn, nil, err
			}
		case "function_call_output":
			if answers[item.CallID], err = dialect.TextOf(item.Output); err != nil {
				return turn, nil, err
			}
		case "function_call", "mcp_call", "reasoning": // what an earlier response said
		default:
			return turn, nil, messages.InvalidInput("input of the type %.50q is not taken", item.Type)
		}
	}
	if len(answers) > 0 {
		return turn, answers, nil
	}
	return turn, nil, turn.Close()
}
