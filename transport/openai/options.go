package openai

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
)

// Options are what completions and responses take with the same names.
type Options struct {
	Model       string            `json:"model"`
	Stream      bool              `json:"stream"`
	Temperature *float64          `json:"temperature"`
	TopP        *float64          `json:"top_p"`
	Metadata    map[string]string `json:"metadata"`
	Tools       []json.RawMessage `json:"tools"`
}

// Form is what an answer must look like.
type Form struct {
	Type string `json:"type"`
}

// Check refuses what would be left out silently otherwise.
func (o *Options) Check(f Form) error {
	switch {
	case len(o.Tools) > 0:
		return messages.InvalidInput("tools are the server's own here; leave tools out")
	case f.Type != "" && f.Type != "text":
		return messages.InvalidInput("an answer is a text; a format of the type %.50q is not offered", f.Type)
	}
	return nil
}
