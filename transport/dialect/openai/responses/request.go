package responses

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/dialect/openai"
)

// request is the body of POST /v1/responses.
type request struct {
	openai.Options
	Input           json.RawMessage `json:"input"`
	Instructions    string          `json:"instructions"`
	Background      bool            `json:"background"`
	Previous        string          `json:"previous_response_id"`
	Conversation    json.RawMessage `json:"conversation"`
	MaxOutputTokens int             `json:"max_output_tokens"`
	Text            struct {
		Format openai.Form `json:"format"`
	} `json:"text"`
}

// said is an item of the input.
type said struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
}

// turn is what the client says after what was said before; answers are what it answers, by the question.
func (q *request) turn(before dialect.Turn) (turn dialect.Turn, answers map[string]string, err error) {
	turn = before
	turn.System, turn.MaxTokens, turn.Temperature, turn.TopP = q.Instructions, q.MaxOutputTokens, q.Temperature, q.TopP
	if err := q.Check(q.Text.Format); err != nil {
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
