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
	door.Message
	Type   string          `json:"type"`
	CallID string          `json:"call_id"`
	Output json.RawMessage `json:"output"`
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
		items = []said{{Message: door.Message{Role: "user", Content: q.Input}}}
	}
	answers = map[string]string{}
	var all []door.Message
	for _, item := range items {
		switch item.Type {
		case "", "message":
			all = append(all, item.Message)
		case "function_call_output":
			if answers[item.CallID], err = door.TextOf(item.Output); err != nil {
				return nil, err
			}
		case "function_call", "mcp_call", "reasoning": // what an earlier response said
		default:
			return nil, messages.InvalidInput("input of the type %.50q is not taken", item.Type)
		}
	}
	if len(answers) > 0 {
		return answers, nil
	}
	return nil, turn.AddAll(all)
}
