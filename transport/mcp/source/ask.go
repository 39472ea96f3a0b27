package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const mostPrompt = 2000 // maximum length of a question in bytes

// Elicit forwards a question of the server to the run that called it. Servers of 2026-07-28 ask in the result of the
// call, which is then repeated. Older servers ask during the call: over HTTP on the call's stream, over stdio without
// saying which call they mean.
func (c *connection) Elicit(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	p := c.caller(ctx)
	if p == nil && requestOf(ctx) == nil && c.server.events != nil && !c.server.Shared { // all calls are of one principal's clients
		p = c.newestCall()
	}
	if p == nil {
		return nil, errors.New("nobody can be asked: no call is going on, or calls of several runs are")
	}
	answer, err := p.ask(c.server.Name, r.Params)
	return &mcp.ElicitationResult{ElicitationResponse: answer}, err
}

// caller returns the call that a request of the server belongs to, or nil.
func (c *connection) caller(ctx context.Context) *pending {
	if ours := requestOf(ctx); ours != nil {
		return ours.call
	}
	return c.onlyCaller()
}

// onlyCaller returns a call, if only one run is calling the server at the moment.
func (c *connection) onlyCaller() (p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, token := range slices.Sorted(maps.Keys(c.calls)) {
		if p != nil && p.Run != c.calls[token].Run {
			return nil
		}
		if p == nil {
			p = c.calls[token]
		}
	}
	return p
}

// ask asks the people of the calling run, and returns their answer in the form of MCP.
func (p *pending) ask(server string, e mcp.ElicitationParams) (answer mcp.ElicitationResponse, err error) {
	var in messages.InputRequired
	answer.Action = mcp.ElicitationResponseActionDecline
	field := ""
	if e.Mode == mcp.ElicitationModeURL {
		in.InputKind, in.Schema = messages.InputConfirmation, json.RawMessage(`{"type":"boolean"}`)
		in.Prompt = fmt.Sprintf("%s wants you to open %s and says: %s", server, e.URL, e.Message)
	} else if p.Note != nil { // the client gets the form as it is
		in.Prompt, in.InputKind = e.Message, messages.InputData
		if in.Schema, err = json.Marshal(e.RequestedSchema); err != nil {
			return answer, err
		}
	} else {
		in.Prompt = fmt.Sprintf("%s asks: %s", server, e.Message)
		if in.InputKind, field, in.Schema, err = formOf(e.RequestedSchema); err != nil {
			return answer, err
		}
	}
	in.Prompt = words.Clip(in.Prompt, mostPrompt)
	in.Request = p.nameOf(in)
	value, err := p.Ask(p.ctx, in)
	switch {
	case err != nil:
		answer.Action = mcp.ElicitationResponseActionCancel
		return answer, nil
	case len(value) == 0, string(value) == "null", e.Mode == mcp.ElicitationModeURL && string(value) != "true":
		return answer, nil
	}
	answer.Action = mcp.ElicitationResponseActionAccept
	switch {
	case field != "":
		answer.Content = map[string]json.RawMessage{field: value}
	case e.Mode != mcp.ElicitationModeURL:
		answer.Content = withDefaults(in.Schema, value)
	}
	return answer, nil
}

// withDefaults adds the defaults of the fields that an answer to a form leaves out.
func withDefaults(schema, value json.RawMessage) json.RawMessage {
	var form struct {
		Properties map[string]struct{ Default json.RawMessage }
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(schema, &form) != nil || json.Unmarshal(value, &values) != nil || values == nil {
		return value
	}
	for name, field := range form.Properties {
		if _, answered := values[name]; !answered && field.Default != nil {
			values[name] = field.Default
		}
	}
	filled, err := json.Marshal(values)
	if err != nil {
		return value
	}
	return filled
}

// nameOf derives a question's name from its content, so that a repeated call finds the answers that it has received,
// whatever the order in which the server asks.
func (p *pending) nameOf(in messages.InputRequired) string {
	name := p.ID + "." + messages.Digest(in.Prompt + string(in.Schema))[:8]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked == nil {
		p.asked = map[string]int{}
	}
	if p.asked[name]++; p.asked[name] > 1 {
		return fmt.Sprintf("%s.%d", name, p.asked[name])
	}
	return name
}

// formOf returns the kind of a question, and its schema. If a form has a single field that is a boolean or has a few
// possible values, the schema is the field's, and field is its name.
func formOf(requested any) (kind messages.InputKind, field string, schema json.RawMessage, err error) {
	if schema, err = json.Marshal(requested); err != nil {
		return "", "", nil, err
	}
	var form struct {
		Properties map[string]json.RawMessage
	}
	if json.Unmarshal(schema, &form) != nil || len(form.Properties) != 1 {
		return messages.InputData, "", schema, nil
	}
	for name, property := range form.Properties {
		var p struct {
			Type  string
			Enum  []json.RawMessage
			OneOf []json.RawMessage
		}
		_ = json.Unmarshal(property, &p) // a form that does not fit is asked as a whole
		switch {
		case p.Type == "boolean":
			return messages.InputConfirmation, name, property, nil
		case p.Type == "string" && len(p.Enum)+len(p.OneOf) > 0:
			return messages.InputSelection, name, property, nil
		}
	}
	return messages.InputData, "", schema, nil
}
