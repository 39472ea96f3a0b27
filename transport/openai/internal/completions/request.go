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
	Messages            []json.RawMessage `json:"messages"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Seed                *int64            `json:"seed"`
	Stop                json.RawMessage   `json:"stop"`
	N                   int               `json:"n"`
	Format              api.Form          `json:"response_format"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// said is a message, with the assistant's calls or the result of a call.
type said struct {
	door.Message
	Calls  []json.RawMessage `json:"tool_calls"`
	CallID string            `json:"tool_call_id"`
}

// add adds a message to the client's turn, with the members that nobody reads here.
func add(turn *door.Turn, raw json.RawMessage) error {
	var m said
	if err := json.Unmarshal(raw, &m); err != nil {
		return messages.InvalidInput("a message cannot be read: %v", err)
	}
	extra := model.Extra(raw, "role", "content", "tool_calls", "tool_call_id")
	var parts []json.RawMessage
	if json.Unmarshal(m.Content, &parts) == nil && slices.ContainsFunc(parts, func(part json.RawMessage) bool { return model.Extra(part, "type", "text") != "" }) {
		extra = model.Within(extra, "content", string(m.Content))
	}
	if m.Role == "tool" {
		err := turn.AddResult(m.CallID, m.Content)
		if err == nil {
			turn.Earlier[len(turn.Earlier)-1].Extra = extra
		}
		return err
	}
	text, err := door.TextOf(m.Content)
	if err != nil {
		return err
	}
	one := model.Message{Role: model.Role(m.Role), Content: text, Extra: extra}
	for _, raw := range m.Calls {
		var c struct {
			ID, Type string
			Function json.RawMessage
		}
		var f struct{ Name, Arguments string }
		if json.Unmarshal(raw, &c) != nil || c.Type != "" && c.Type != "function" || json.Unmarshal(c.Function, &f) != nil {
			return messages.InvalidInput("a call of the type %.50q is not supported; send calls of functions", c.Type)
		}
		inner := model.Extra(c.Function, "name", "arguments")
		one.Calls = append(one.Calls, model.ToolCall{ID: c.ID, Name: f.Name, Arguments: f.Arguments,
			Extra: model.Within(model.Extra(raw, "id", "type", "index", "function"), "function", inner)})
	}
	return turn.Say(one)
}

// turn returns the client's turn.
func (q *request) turn(rest map[string]json.RawMessage) (turn door.Turn, err error) {
	turn = door.Turn{MaxTokens: max(q.MaxTokens, q.MaxCompletionTokens), Seed: q.Seed, Extra: rest}
	var stop string
	if json.Unmarshal(q.Stop, &stop) == nil && stop != "" {
		turn.Stop = []string{stop}
	} else if len(q.Stop) > 0 && json.Unmarshal(q.Stop, &turn.Stop) != nil {
		return turn, messages.InvalidInput("stop must be a text or an array of texts")
	}
	for _, raw := range q.Tools { // of other types are the tools of responses
		var t struct{ Type string }
		if json.Unmarshal(raw, &t) == nil && t.Type != "function" {
			return turn, messages.InvalidInput("a tool of the type %.50q is not offered; send functions", t.Type)
		}
	}
	if err := q.Fill(&turn, q.Format); err != nil {
		return turn, err
	}
	if q.N > 1 {
		return turn, messages.InvalidInput("n must be 1: each answer is a separate run")
	}
	for _, m := range q.Messages {
		if err := add(&turn, m); err != nil {
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
func (d handler) repeats(t door.Turn, run messages.State, question messages.Input) bool {
	msgs := d.Conversation(run)
	if n := len(msgs); n > 0 && msgs[n-1].Role == model.Assistant { // the client's last message contains the question too
		msgs = msgs[:n-1]
	}
	last := t.Earlier[len(t.Earlier)-1]
	same := func(a, b model.Message) bool { return a.Role == b.Role && a.Content == b.Content }
	return len(msgs) < len(t.Earlier) && slices.EqualFunc(msgs, t.Earlier[:len(msgs)], same) &&
		last.Role == model.Assistant && strings.HasSuffix(last.Content, door.Prompt(messages.InputRequired{Prompt: question.Prompt, Schema: question.Schema}))
}
