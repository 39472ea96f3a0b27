package llm

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// amendment holds what go-openai cannot send. exchange adds it to the body.
type amendment struct {
	fields map[string]json.RawMessage
	// empty says that a message has an empty content, which go-openai omits.
	empty bool
}

// request converts r to a request of go-openai and its amendment.
func (c *Client) request(r model.Request) (openai.ChatCompletionRequest, amendment, error) {
	out := openai.ChatCompletionRequest{
		Model: r.Model, Messages: turns(r.Messages), Tools: tools(r.Tools), Stop: r.Stop,
		ResponseFormat: format(r.Format), ToolChoice: toolChoice(r),
	}
	a, err := c.amendment(r)
	s := c.config.Server
	if s == nil || !s.NoUsage {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if s != nil && slices.Contains(s.Refuses, "stop") {
		out.Stop = nil
	}
	return out, a, err
}

// tokenLimit returns the name of the field that limits the answer. OpenAI has renamed it: its newer models refuse the
// old name, and other servers ignore the new one.
func (c *Client) tokenLimit(name string) string {
	newer := slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5", "gpt-6"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
	if newer || kindByAddress(c.base) == OpenAI {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// amendment collects the numbers, which go-openai omits if zero and rounds otherwise, and the fields that it lacks.
func (c *Client) amendment(r model.Request) (amendment, error) {
	a := amendment{fields: map[string]json.RawMessage{}}
	a.empty = slices.ContainsFunc(r.Messages, func(m model.Message) bool { return m.Content == "" })
	numbers := map[string]any{}
	if r.MaxTokens > 0 {
		numbers[c.tokenLimit(r.Model)] = r.MaxTokens
	}
	if r.Temperature != nil {
		numbers["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		numbers["top_p"] = *r.TopP
	}
	if r.Seed != nil {
		numbers["seed"] = *r.Seed
	}
	for name, number := range numbers {
		data, err := json.Marshal(number)
		if err != nil {
			return a, messages.InvalidInput("%s is not a finite number", name)
		}
		a.fields[name] = data
	}
	for name, value := range r.Extra {
		if name == "stream" || name == "messages" || name == "model" || name == "n" {
			return a, messages.InvalidInput("%s cannot be an extra field; remove it", name)
		}
		if !json.Valid(value) {
			return a, messages.InvalidInput("the extra field %s is not JSON", name)
		}
		a.fields[name] = value
	}
	if s := c.config.Server; s != nil {
		for _, refused := range s.Refuses {
			delete(a.fields, refused)
		}
	}
	return a, nil
}

// apply adds the amendment to the body of a go-openai request.
func (a amendment) apply(body []byte) ([]byte, error) {
	if len(a.fields) == 0 && !a.empty {
		return body, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	maps.Copy(fields, a.fields)
	if a.empty {
		turns, err := withContent(fields["messages"])
		if err != nil {
			return nil, err
		}
		fields["messages"] = turns
	}
	return json.Marshal(fields)
}

// withContent adds the content that go-openai has omitted to messages.
func withContent(messages json.RawMessage) (json.RawMessage, error) {
	var turns []map[string]json.RawMessage
	if err := json.Unmarshal(messages, &turns); err != nil {
		return nil, err
	}
	for _, turn := range turns {
		switch {
		case turn["content"] != nil:
		case turn["tool_calls"] != nil: // servers refuse an empty text here; they themselves send null
			turn["content"] = json.RawMessage(`null`)
		default:
			turn["content"] = json.RawMessage(`""`)
		}
	}
	return json.Marshal(turns)
}

// turns converts the conversation. Some servers refuse empty arguments of a call, so those become an empty object.
func turns(list []model.Message) []openai.ChatCompletionMessage {
	out := make([]openai.ChatCompletionMessage, 0, len(list))
	for _, m := range list {
		turn := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ReasoningContent: m.Thoughts, ToolCallID: m.CallID}
		for _, call := range m.Calls {
			turn.ToolCalls = append(turn.ToolCalls, openai.ToolCall{ID: call.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: call.Name, Arguments: cmp.Or(call.Arguments, "{}")}})
		}
		out = append(out, turn)
	}
	return out
}

// tools converts the tools. Servers demand a schema, so a tool without one takes an empty object.
func tools(list []model.Tool) (out []openai.Tool) {
	for _, t := range list {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	return out
}

// toolChoice returns nil without tools, because servers then refuse a choice.
func toolChoice(r model.Request) any {
	switch {
	case len(r.Tools) == 0 || r.Choice == "":
		return nil
	case r.Choice == "auto", r.Choice == "none", r.Choice == "required":
		return r.Choice
	}
	return openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: r.Choice}}
}

// format converts the format of the answer: any text, any JSON or JSON that keeps to a schema.
func format(f *model.Format) *openai.ChatCompletionResponseFormat {
	switch {
	case f == nil:
		return nil
	case len(f.Schema) == 0:
		return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return &openai.ChatCompletionResponseFormat{
		Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
			Name: cmp.Or(f.Name, "answer"), Schema: f.Schema, Strict: f.Strict},
	}
}
