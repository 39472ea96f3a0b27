package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// result is the result of tools/call. It is read leniently: a part of a new type must not cost the others.
type result struct {
	Type       string `json:"resultType"`
	Content    []part
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

type part struct {
	Type     string
	Text     string
	MimeType string
	Data     string
	Name     string
	URI      string
	Resource struct{ URI, MimeType, Text, Blob string }
}

// text is what a model is told of the result. A model that sees no images is told what is there.
func (r result) text() (string, error) {
	var all []string
	for _, p := range r.Content {
		if p.Type != "text" || !sameJSON(p.Text, r.Structured) { // servers repeat the structured content as text
			all = append(all, p.words())
		}
	}
	if len(r.Structured) > 0 && string(r.Structured) != "null" {
		all = append(all, string(r.Structured))
	}
	text := strings.Join(all, "\n")
	if r.IsError {
		return "", messages.Errorf(messages.CauseError, "%s", text)
	}
	return text, nil
}

func (p part) words() string {
	switch p.Type {
	case "text":
		return p.Text
	case "image", "audio":
		return unseen(p.MimeType, p.Data)
	case "resource_link":
		return fmt.Sprintf("[the resource %s at %s]", p.Name, p.URI)
	case "resource":
		if p.Resource.Text != "" {
			return p.Resource.URI + ":\n" + p.Resource.Text
		}
		return p.Resource.URI + ": " + unseen(p.Resource.MimeType, p.Resource.Blob)
	}
	return fmt.Sprintf("[a part of the type %q, which cannot be shown]", p.Type)
}

func unseen(kind, base64 string) string {
	return fmt.Sprintf("[%s of %d bytes, which you cannot see]", kind, len(strings.TrimRight(base64, "="))*3/4)
}

func sameJSON(text string, doc json.RawMessage) bool {
	var a, b bytes.Buffer
	return len(doc) > 0 && json.Compact(&a, []byte(text)) == nil && json.Compact(&b, doc) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}
