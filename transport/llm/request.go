package llm

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// amendment holds what go-openai cannot send. exchange adds it to the body.
type amendment struct {
	fields map[string]json.RawMessage
	// request has the members that nobody reads, which are added where the body has none of the name.
	request model.Request
	// turns says that messages have such members, or an empty content, which go-openai omits.
	turns bool
	// thoughts is the member in which the server had thoughts last.
	thoughts string
	// long holds the long contents, for which go-openai sends marks.
	long *jsonwalk.Long
}

// request converts r to a request of go-openai and its amendment.
func (c *Client) request(r model.Request) (openai.ChatCompletionRequest, amendment, error) {
	long := &jsonwalk.Long{}
	out := openai.ChatCompletionRequest{
		Model: r.Model, Messages: turns(r.Messages, long), Tools: tools(r.Tools), Stop: r.Stop,
		ResponseFormat: format(r.Format), ToolChoice: toolChoice(r),
	}
	a, err := c.amendment(r)
	a.long = long
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
	a := amendment{fields: map[string]json.RawMessage{}, request: r, thoughts: "reasoning_content"}
	if in := c.thoughts.Load(); in != nil {
		a.thoughts = *in
	}
	a.turns = slices.ContainsFunc(r.Messages, func(m model.Message) bool {
		return m.Content == "" || m.Extra != "" || m.ThoughtsIn != "" || slices.ContainsFunc(m.Calls, func(c model.ToolCall) bool { return c.Extra != "" })
	})
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
		if slices.Contains(model.Reserved, name) {
			return a, messages.InvalidInput("%s cannot be an extra field; remove it", name)
		}
		if !json.Valid(value) {
			return a, messages.InvalidInput("the extra field %s is not JSON", name)
		}
	}
	if s := c.config.Server; s != nil {
		a.request.Extra = maps.Clone(r.Extra)
		for _, refused := range s.Refuses {
			delete(a.fields, refused)
			delete(a.request.Extra, refused)
		}
	}
	return a, nil
}

// apply adds the amendment to the body of a go-openai request.
func (a amendment) apply(body []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	maps.Copy(fields, a.fields)
	for name, value := range a.request.Extra {
		if fields[name] == nil {
			fields[name] = value
		}
	}
	if f := a.request.Format; f != nil {
		fields["response_format"] = model.Merged(fields["response_format"], f.Extra)
	}
	var err error
	if a.turns {
		fields["messages"], err = each(fields["messages"], a.turn)
	}
	if err == nil && len(a.request.Tools) > 0 {
		fields["tools"], err = each(fields["tools"], func(i int, tool json.RawMessage) json.RawMessage {
			return model.Merged(tool, a.request.Tools[i].Extra)
		})
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// each returns the list with each element changed.
func each(list json.RawMessage, change func(i int, element json.RawMessage) json.RawMessage) (json.RawMessage, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, err
	}
	for i := range all {
		all[i] = change(i, all[i])
	}
	return json.Marshal(all)
}

// turn adds to a message the members that nobody reads, its thoughts, and the content that go-openai has omitted.
func (a amendment) turn(i int, raw json.RawMessage) json.RawMessage {
	m, extra := a.request.Messages[i], a.request.Messages[i].Extra
	var turn map[string]json.RawMessage
	_ = json.Unmarshal(raw, &turn) // go-openai wrote it
	if in := m.ThoughtsIn; in != "" && m.Thoughts != "" {
		if in == model.AsServed {
			in = a.thoughts
		}
		turn[in], _ = json.Marshal(m.Thoughts)
	}
	if turn["tool_calls"] != nil {
		turn["tool_calls"], _ = each(turn["tool_calls"], func(i int, call json.RawMessage) json.RawMessage {
			return model.Merged(call, m.Calls[i].Extra)
		})
	}
	if parts := content(extra, m.Content); parts != nil {
		turn["content"] = parts
	}
	switch {
	case turn["content"] != nil:
	case turn["tool_calls"] != nil: // servers refuse an empty text here; they themselves send null
		turn["content"] = json.RawMessage(`null`)
	default:
		turn["content"] = json.RawMessage(`""`)
	}
	out, _ := json.Marshal(turn)
	return model.Merged(out, model.Extra(json.RawMessage(extra), "content"))
}

// content returns the parts in the extra members of a message, if they have the text.
func content(extra, text string) json.RawMessage {
	var with struct{ Content json.RawMessage }
	var parts []struct{ Text string }
	if extra == "" || json.Unmarshal([]byte(extra), &with) != nil || json.Unmarshal(with.Content, &parts) != nil {
		return nil
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.Text
	}
	if strings.Join(texts, "\n") != text {
		return nil
	}
	return with.Content
}

// turns converts the conversation. Some servers refuse empty arguments of a call, so those become an empty object.
func turns(list []model.Message, long *jsonwalk.Long) []openai.ChatCompletionMessage {
	out := make([]openai.ChatCompletionMessage, 0, len(list))
	for _, m := range list {
		turn := openai.ChatCompletionMessage{Role: string(m.Role), Content: long.Mark(m.Content), ToolCallID: m.CallID}
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
