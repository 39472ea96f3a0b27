package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/fit"
)

// Ask asks people. If the question has no name, it gets one of the call. The call's timeout stands still meanwhile,
// and a repeated call finds its earlier answers. The answer fits the schema, or is null, which declines. Secrets are
// removed from the call's result. After the question's timeout the error is a deadline.
func (c *Call) Ask(ctx context.Context, in messages.InputRequired) (json.RawMessage, error) {
	if c.Unattended {
		return json.RawMessage("null"), nil
	}
	if in.Request == "" {
		c.questions++
		in.Request = fmt.Sprintf("%s.q%d", c.ID, c.questions)
	}
	if _, err := fit.Compile(in.Schema); err != nil {
		return nil, err
	}
	value, err := Ask(ctx, c.Task, in)
	c.keepSecret(in.InputKind, value)
	return value, err
}

// declines reports whether an answer declines the question.
func declines(value json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(value), []byte("null")) }

func (c *Call) keepSecret(kind messages.InputKind, value json.RawMessage) {
	if text := messages.Plain(value); kind == messages.InputSecret && text != "" {
		c.secrets = append(c.secrets, text)
	}
}

// withoutSecrets returns the text without the secrets that people have given to the call.
func (c *Call) withoutSecrets(text string) string {
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "[secret]")
	}
	return text
}

// inquiry is the arguments of ask_user.
type inquiry struct {
	Question string         `json:"question" jsonschema:"what to ask, with all that the user must know to answer"`
	Options  []string       `json:"options,omitempty" jsonschema:"the answers to choose from"`
	Confirm  bool           `json:"confirm,omitempty" jsonschema:"the answer is yes or no"`
	Schema   map[string]any `json:"schema,omitempty" jsonschema:"a JSON Schema of the answer, if it is data"`
}

// AskUser returns the tool with which a model asks the user: for words, a choice, yes or no, or data.
func AskUser() Tool {
	t := Tool{Name: "ask_user", Access: Read, Idempotent: true,
		Description: "Ask the user a question and wait for the answer. Ask only for what you cannot find out."}
	return TaskFunc(t, func(ctx context.Context, c *Call, in inquiry) (string, error) {
		value, err := c.Ask(ctx, in.required())
		if err == nil && declines(value) {
			err = errors.New("the user declined to answer")
		}
		return messages.Plain(value), err
	})
}

// required converts the arguments to a question.
func (in inquiry) required() messages.InputRequired {
	kind, schema := messages.InputClarification, map[string]any{"type": "string"}
	switch {
	case len(in.Options) > 0:
		kind, schema["enum"] = messages.InputSelection, in.Options
	case in.Confirm:
		kind, schema["type"] = messages.InputConfirmation, "boolean"
	case len(in.Schema) > 0:
		kind, schema = messages.InputData, in.Schema
	}
	q := messages.InputRequired{Prompt: in.Question, InputKind: kind}
	q.Schema, _ = json.Marshal(schema) // plain JSON values
	return q
}
