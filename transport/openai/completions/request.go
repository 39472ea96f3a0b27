package completions

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai"
)

// request is the body of POST /v1/chat/completions.
type request struct {
	openai.Options
	Messages            []said          `json:"messages"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Seed                *int64          `json:"seed"`
	Stop                json.RawMessage `json:"stop"`
	N                   int             `json:"n"`
	Format              openai.Form     `json:"response_format"`
	Effort              string          `json:"reasoning_effort"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// said is a message, with the assistant's calls or the result of a call.
type said struct {
	door.Message
	Calls []struct {
		ID       string
		Function llm.ToolCall
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
}

// add adds the message to the client's turn.
func (m *said) add(turn *door.Turn) error {
	if m.Role == "tool" {
		return turn.AddResult(m.CallID, m.Content)
	}
	text, err := door.TextOf(m.Content)
	if err == nil {
		err = turn.Add(m.Role, text)
	}
	for _, c := range m.Calls {
		turn.AddCall(llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return err
}

// turn returns the client's turn.
func (q *request) turn() (turn door.Turn, err error) {
	turn = door.Turn{MaxTokens: max(q.MaxTokens, q.MaxCompletionTokens), Seed: q.Seed}
	var stop string
	if json.Unmarshal(q.Stop, &stop) == nil && stop != "" {
		turn.Stop = []string{stop}
	} else if len(q.Stop) > 0 && json.Unmarshal(q.Stop, &turn.Stop) != nil {
		return turn, messages.InvalidInput("stop must be a text or an array of texts")
	}
	if err := q.Fill(&turn, q.Format, q.Effort); err != nil {
		return turn, err
	}
	if q.N > 1 {
		return turn, messages.InvalidInput("n must be 1: each answer is a run of its own")
	}
	for _, m := range q.Messages {
		if err := m.add(&turn); err != nil {
			return turn, err
		}
	}
	return turn, turn.Close()
}
