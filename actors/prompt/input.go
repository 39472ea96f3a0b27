package prompt

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// MaxBytes is the most that the text and the system prompt may hold together.
const MaxBytes = 16 << 20

// Auto as the name of a model leaves the choice to Config.Choose, like no name at all.
const Auto = "auto"

// Input is what is asked. It holds no secrets: run.queued shows it.
type Input struct {
	Text string `json:"text"`
	// System is the system prompt, if any.
	System string `json:"system,omitempty"`
	// Model is the server's name of it, or [Auto].
	Model string `json:"model,omitempty"`
	// MaxTokens is the most that the answer may take, thoughts included; the server's own limit if zero.
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2; the server's own if nil
	TopP        *float64 `json:"top_p,omitempty"`       // above 0 to 1
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	// Extra are more fields of the request's body, such as ttl, top_k or chat_template_kwargs.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

func (in Input) check() error {
	switch size := len(in.Text) + len(in.System); {
	case strings.TrimSpace(in.Text) == "":
		return messages.InvalidInput("a prompt needs a text")
	case size > MaxBytes:
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"the prompt takes more than %d bytes; say it in fewer", MaxBytes)
	case !utf8.ValidString(in.Text) || !utf8.ValidString(in.System):
		return messages.InvalidInput("the prompt is not UTF-8; convert it")
	case in.MaxTokens < 0:
		return messages.InvalidInput("the most tokens of an answer, %d, must not be negative", in.MaxTokens)
	case in.Temperature != nil && !(*in.Temperature >= 0 && *in.Temperature <= 2):
		return messages.InvalidInput("the temperature is between 0 and 2, not %g", *in.Temperature)
	case in.TopP != nil && !(*in.TopP > 0 && *in.TopP <= 1):
		return messages.InvalidInput("top_p is above 0 and at most 1, not %g", *in.TopP)
	}
	return nil
}

func (in Input) request() model.Request {
	r := model.Request{MaxTokens: in.MaxTokens, Temperature: in.Temperature, TopP: in.TopP, Seed: in.Seed, Stop: in.Stop,
		Extra: in.Extra}
	if in.Model != Auto {
		r.Model = in.Model
	}
	if in.System != "" {
		r.Messages = append(r.Messages, model.Message{Role: model.System, Content: in.System})
	}
	r.Messages = append(r.Messages, model.Message{Role: model.User, Content: in.Text})
	return r
}
