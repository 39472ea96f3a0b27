package prompt

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// MaxBytes bounds the sum of the text, the earlier messages and the system prompt.
const MaxBytes = 16 << 20

// Auto, like an empty model name, leaves the choice to Config.Choose.
const Auto = "auto"

// Input is the job's input. It must hold no secrets, because run.queued shows it.
type Input struct {
	Text string `json:"text" form:"minLength=1"`
	// Earlier is the conversation before the text, the oldest message first, with calls of Functions and their
	// results. The text may be empty if it does not end with the user, or if there is only a system prompt.
	Earlier []model.Message `json:"earlier,omitempty" form:"programs" jsonschema:"earlier messages, oldest first"`
	// System is the system prompt, if any.
	System string `json:"system,omitempty" form:"value=prompt,brief=" jsonschema:"system prompt"`
	// Model is the server's name of the model, or [Auto].
	Model string `json:"model,omitempty" form:"maxLength=256,value=name" jsonschema:"name, or auto for the loaded one"`
	// MaxTokens bounds the answer, including thoughts; 0 leaves the limit to the server.
	MaxTokens   int      `json:"max_tokens,omitempty" form:"minimum=1,value=tokens,brief=with thoughts" jsonschema:"maximum tokens of the answer, with thoughts"`
	Temperature *float64 `json:"temperature,omitempty" form:"minimum=0,maximum=2,brief=" jsonschema:"randomness of the answer; 0 takes the likeliest word"`
	TopP        *float64 `json:"top_p,omitempty" form:"exclusiveMinimum=0,maximum=1" jsonschema:"share of likely words"`
	Seed        *int64   `json:"seed,omitempty" jsonschema:"makes an answer repeatable"`
	Stop        []string `json:"stop,omitempty" form:"maxItems=16,value=text,brief=" jsonschema:"text that ends the answer"`
	// Functions are tools of the caller that the model may call. The result has the calls.
	Functions []model.Tool `json:"functions,omitempty" form:"programs" jsonschema:"your tools; the result has the model's calls"`
	// Choice of functions is auto, none, required, or the name of a function.
	Choice string `json:"choice,omitempty" form:"programs"`
	// Format says that the text must be JSON, of the schema if there is one.
	Format *model.Format `json:"format,omitempty" form:"programs" jsonschema:"form of the answer, as JSON"`
	// Extra holds further members of the request, such as ttl, top_k or chat_template_kwargs.
	Extra map[string]json.RawMessage `json:"extra,omitempty" form:"programs" jsonschema:"more fields of the request, such as {\"top_k\":40}"`
}

// check returns the error of an input that fits no Config: limit_exceeded for its size, else invalid_input.
func (in Input) check() error {
	if err := model.CheckEarlier(in.Earlier, true); err != nil {
		return err
	}
	// The bounds of numbers are negated, so that NaN is refused too.
	switch size := len(in.Text) + len(in.System) + model.Size(in.Earlier); {
	case strings.TrimSpace(in.Text) == "" && !in.continues():
		return messages.InvalidInput("the prompt is empty; give a text")
	case size > MaxBytes:
		return messages.LimitExceeded("the prompt has more than %d bytes; shorten it", MaxBytes)
	case !utf8.ValidString(in.Text) || !utf8.ValidString(in.System):
		return messages.InvalidInput("the prompt is not UTF-8; convert it")
	case in.MaxTokens < 0:
		return messages.InvalidInput("max_tokens must not be negative, but is %d", in.MaxTokens)
	case in.Temperature != nil && !(*in.Temperature >= 0 && *in.Temperature <= 2):
		return messages.InvalidInput("the temperature must be from 0 to 2, but is %g", *in.Temperature)
	case in.TopP != nil && !(*in.TopP > 0 && *in.TopP <= 1):
		return messages.InvalidInput("top_p must be above 0 and at most 1, but is %g", *in.TopP)
	}
	return in.checkFunctions()
}

// continues reports whether there is no text because the model goes on without one.
func (in Input) continues() bool { return in.Text == "" && model.Continues(in.System, in.Earlier) }

// checkFunctions requires that all functions have names, each a different one, and that Choice is one or a known word.
func (in Input) checkFunctions() error {
	names := map[string]bool{"": true}
	for _, f := range in.Functions {
		if names[f.Name] {
			return messages.InvalidInput("two functions have the name %.100q, or one has none", f.Name)
		}
		names[f.Name] = true
	}
	switch in.Choice {
	case "", "auto", "none", "required":
		return nil
	}
	if !names[in.Choice] {
		return messages.InvalidInput("there is no function %.100q to choose", in.Choice)
	}
	return nil
}

// shape returns the schema that the text must fit, or nil. Errors: invalid_input.
func (in Input) shape() (*validate.Schema, error) {
	if in.Format == nil {
		return nil, nil
	}
	schema := in.Format.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	shape, err := validate.Compile(schema)
	if err != nil {
		return nil, messages.InvalidInput("the format is not a JSON Schema: %v", err)
	}
	return shape, nil
}

// request returns the request to the model: instructions, earlier messages, then the text.
func (in Input) request() model.Request {
	r := model.Request{MaxTokens: in.MaxTokens, Temperature: in.Temperature, TopP: in.TopP, Seed: in.Seed, Stop: in.Stop,
		Tools: in.Functions, Choice: in.Choice, Format: in.Format, Extra: in.Extra}
	if in.Model != Auto {
		r.Model = in.Model
	}
	if in.System != "" {
		r.Messages = append(r.Messages, model.Message{Role: model.System, Content: in.System})
	}
	r.Messages = append(r.Messages, in.Earlier...)
	if !in.continues() {
		r.Messages = append(r.Messages, model.Message{Role: model.User, Content: in.Text})
	}
	return r
}
