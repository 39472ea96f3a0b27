package responses

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai"
)

// request is the body of POST /v1/responses.
type request struct {
	openai.Options
	Input           json.RawMessage `json:"input"`
	Instructions    string          `json:"instructions"`
	Background      bool            `json:"background"`
	Previous        string          `json:"previous_response_id"`
	Conversation    any             `json:"conversation"`
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

// add adds what the client says to the turn. Answers are what it answers, by the question; then the turn has no text.
func (q *request) add(turn *door.Turn) (answers map[string]string, err error) {
	turn.System, turn.MaxTokens, turn.Temperature, turn.TopP = q.Instructions, q.MaxOutputTokens, q.Temperature, q.TopP
	if err := q.Check(q.Text.Format); err != nil {
		return nil, err
	}
	if q.Conversation != nil {
		return nil, messages.InvalidInput("conversation is not offered; give previous_response_id")
	}
	var items []said
	if json.Unmarshal(q.Input, &items) != nil {
		items = []said{{Role: "user", Content: q.Input}}
	}
	answers = map[string]string{}
	for _, item := range items {
		switch item.Type {
		case "", "message":
			err = turn.AddContent(item.Role, item.Content)
		case "function_call_output":
			answers[item.CallID], err = door.TextOf(item.Output)
		case "function_call", "mcp_call", "reasoning": // what an earlier response said
		default:
			err = messages.InvalidInput("input of the type %.50q is not taken", item.Type)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(answers) == 0 {
		err = turn.Close()
	}
	return answers, err
}
