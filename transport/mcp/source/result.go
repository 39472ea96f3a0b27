package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// result is the result of tools/call. Unknown types of parts do not make it invalid.
type result struct {
	Type       string `json:"resultType"`
	Content    []part
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

// part is a part of a result. Which fields are set depends on Type.
type part struct {
	Type     string
	Text     string
	MimeType string
	Data     string
	Name     string
	URI      string
	Resource struct{ URI, MimeType, Text, Blob string }
}

// text returns what the model gets to read. Images and the like are replaced by a description.
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

// words returns a part as text. Parts that are no text are described.
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

// unseen describes a part that the model cannot see.
func unseen(kind, base64 string) string {
	return fmt.Sprintf("[%s of %d bytes, which you cannot see]", kind, len(strings.TrimRight(base64, "="))*3/4)
}

// sameJSON reports whether the text is the same JSON as doc.
func sameJSON(text string, doc json.RawMessage) bool {
	var a, b bytes.Buffer
	return len(doc) > 0 && json.Compact(&a, []byte(text)) == nil && json.Compact(&b, doc) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}
