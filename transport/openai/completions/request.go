package completions

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai"
)

// request is the body of POST /v1/chat/completions.
type request struct {
	openai.Options
	Messages            []door.Message  `json:"messages"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Seed                *int64          `json:"seed"`
	Stop                json.RawMessage `json:"stop"`
	N                   int             `json:"n"`
	Format              openai.Form     `json:"response_format"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// turn is what the client says.
func (q *request) turn() (turn door.Turn, err error) {
	turn = door.Turn{MaxTokens: max(q.MaxTokens, q.MaxCompletionTokens), Temperature: q.Temperature, TopP: q.TopP,
		Seed: q.Seed}
	var stop string
	if json.Unmarshal(q.Stop, &stop) == nil && stop != "" {
		turn.Stop = []string{stop}
	} else if len(q.Stop) > 0 && json.Unmarshal(q.Stop, &turn.Stop) != nil {
		return turn, messages.InvalidInput("stop must be a text or an array of texts")
	}
	if err := q.Check(q.Format); err != nil {
		return turn, err
	}
	if q.N > 1 {
		return turn, messages.InvalidInput("n must be 1: each answer is a run of its own")
	}
	return turn, turn.AddAll(q.Messages)
}
