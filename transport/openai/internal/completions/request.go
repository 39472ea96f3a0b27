package completions

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
)

// request is the body of POST /v1/chat/completions.
type request struct {
	api.Options
	Messages            []said          `json:"messages"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Seed                *int64          `json:"seed"`
	Stop                json.RawMessage `json:"stop"`
	N                   int             `json:"n"`
	Format              api.Form        `json:"response_format"`
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
		Function model.ToolCall
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
		turn.AddCall(model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
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

// maxTurns is how many of the newest runs are searched for the one that asked.
const maxTurns = 32

// answered uses the text to answer the question of the chat with the label, if a question is open. If the client does
// not name the chat (known is false), it looks for a run whose conversation, up to its question, the client repeats.
func (d handler) answered(ctx context.Context, known bool, label string, t door.Turn) (run messages.RunID, question string, err error) {
	most := 1
	if !known {
		if len(t.Earlier) == 0 {
			return "", "", nil
		}
		most = maxTurns
	}
	if t.Text == "" || len(t.Functions) > 0 {
		return "", "", nil
	}
	turns, err := d.Turns(ctx, label, most)
	for _, one := range turns {
		if one.Status.IsEnded() {
			continue
		}
		state, err := d.Run(ctx, one.RunID)
		if err != nil {
			return "", "", err
		}
		if asked, waits := door.Question(state); waits && (known || d.repeats(t, state, asked)) {
			return state.RunID, asked.Request, d.AnswerText(ctx, door.Client, state, asked.Request, t.Text)
		}
	}
	return "", "", err
}

// repeats reports whether the messages before the turn are the conversation of the run up to its question.
func (d handler) repeats(t door.Turn, run messages.State, asked messages.Input) bool {
	said := d.Conversation(run)
	if n := len(said); n > 0 && said[n-1].Role == model.Assistant { // the client's last message contains the question too
		said = said[:n-1]
	}
	last := t.Earlier[len(t.Earlier)-1]
	same := func(a, b model.Message) bool { return a.Role == b.Role && a.Content == b.Content }
	return len(said) < len(t.Earlier) && slices.EqualFunc(said, t.Earlier[:len(said)], same) &&
		last.Role == model.Assistant && strings.HasSuffix(last.Content, door.Prompt(messages.InputRequired{Prompt: asked.Prompt, Schema: asked.Schema}))
}
