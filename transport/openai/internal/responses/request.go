package responses

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	llm "github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
)

// request is the body of POST /v1/responses.
type request struct {
	api.Options
	Input           json.RawMessage `json:"input"`
	Instructions    string          `json:"instructions"`
	Background      bool            `json:"background"`
	Previous        string          `json:"previous_response_id"`
	MaxOutputTokens int             `json:"max_output_tokens"`
	Text            struct {
		Format    api.Form        `json:"format"`
		Verbosity json.RawMessage `json:"verbosity"`
	} `json:"text"`
	Client struct {
		Turn string `json:"turn_id"` // of Codex, which may repeat a request with the same input
	} `json:"client_metadata"`
	Reasoning json.RawMessage `json:"reasoning"`
	Store     json.RawMessage `json:"store"`
	// These concern this side alone: see the values that package api admits.
	Include       json.RawMessage `json:"include"`
	Truncation    json.RawMessage `json:"truncation"`
	StreamOptions json.RawMessage `json:"stream_options"`

	rest map[string]json.RawMessage // what goes on to the model server
}

// carry gives the members for the model server the names that they have in completions. Thoughts are always shown, so a
// summary of them is nothing to ask for.
func (q *request) carry(turn *door.Turn) {
	var reasoning struct{ Effort json.RawMessage }
	_ = json.Unmarshal(q.Reasoning, &reasoning) // what is no object asks for nothing
	turn.Extra = maps.Clone(q.rest)
	for name, value := range map[string]json.RawMessage{"verbosity": q.Text.Verbosity, "reasoning_effort": reasoning.Effort, "store": q.Store,
		"reasoning": json.RawMessage(llm.Extra(q.Reasoning, "effort", "summary", "generate_summary"))} {
		if len(value) > 0 && string(value) != "null" {
			turn.Extra[name] = value
		}
	}
	if len(turn.Functions) == 0 {
		delete(turn.Extra, "parallel_tool_calls") // servers refuse it without tools
	}
}

// said is an item of the input.
type said struct {
	door.Message
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
}

// add adds the input to the turn. It returns answers to the run's questions, by the name of the question.
func (q *request) add(turn *door.Turn, questions []messages.Input) (answers map[string]string, err error) {
	turn.System, turn.MaxTokens = q.Instructions, q.MaxOutputTokens
	if err := q.Fill(turn, q.Text.Format); err != nil {
		return nil, err
	}
	q.carry(turn)
	var items []said
	if json.Unmarshal(q.Input, &items) != nil {
		items = []said{{Message: door.Message{Role: "user", Content: q.Input}}}
	}
	answers = map[string]string{}
	thoughts := ""
	for _, item := range items {
		question := slices.ContainsFunc(questions, func(in messages.Input) bool { return in.Request == item.CallID })
		if question && item.Type == "function_call_output" {
			answers[item.CallID], err = door.TextOf(item.Output)
		} else {
			err = item.add(turn)
		}
		if err != nil {
			return nil, err
		}
		thoughts = item.think(turn, thoughts)
	}
	if len(answers) > 0 {
		return answers, nil
	}
	return nil, turn.Close()
}

// think gives the thoughts that came before the item to the assistant's message that has it, and returns those that wait
// for their message.
func (s *said) think(turn *door.Turn, thoughts string) (waiting string) {
	if s.Type == "reasoning" {
		var parts []part
		_ = json.Unmarshal(s.Content, &parts) // a summary is not what the model thought
		for _, p := range parts {
			thoughts += p.Text
		}
		return thoughts
	}
	if last := len(turn.Earlier) - 1; thoughts != "" && last >= 0 && turn.Earlier[last].Role == llm.Assistant {
		m := &turn.Earlier[last]
		m.Thoughts, m.ThoughtsIn = m.Thoughts+thoughts, llm.AsServed
	}
	return ""
}

// add adds an item to the client's turn. It skips items that repeat earlier output and refuses types that it does not
// know.
func (s *said) add(turn *door.Turn) error {
	switch s.Type {
	case "", "message":
		text, err := door.TextOf(s.Content)
		if err != nil {
			return err
		}
		return turn.Add(s.Role, text)
	case "function_call", "custom_tool_call":
		custom := s.Type == "custom_tool_call"
		call := api.Call{ToolCall: llm.ToolCall{ID: s.CallID, Name: s.Name, Arguments: s.Arguments + s.Input}, Namespace: s.Namespace, Custom: custom}
		turn.AddCall(call.Made())
	case "function_call_output", "custom_tool_call_output":
		return turn.AddResult(s.CallID, s.Output)
	case "mcp_call", "reasoning": // from an earlier response
	default:
		return messages.InvalidInput("input of the type %.50q is not supported", s.Type)
	}
	return nil
}
