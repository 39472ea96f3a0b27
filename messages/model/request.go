package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
)

// Request is one call of a model. [Request.Digest] is computed from its JSON, which omits unused fields.
type Request struct {
	// Model is the name of the model; "" is the one that the server has loaded.
	Model string `json:"model,omitempty"`
	// Messages are the conversation, oldest first.
	Messages []Message `json:"messages,omitempty"`
	// Tools may be called by the model.
	Tools []Tool `json:"tools,omitempty"`
	// Choice of tools is "auto" (or empty), "none", "required", or a tool's name.
	Choice string `json:"choice,omitempty"`
	// Format of the answer; nil for text.
	Format    *Format `json:"format,omitempty"`
	MaxTokens int     `json:"max_tokens,omitempty"` // of the answer; zero leaves the limit to the server
	// Temperature and TopP steer the choice of words; nil leaves them to the server.
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	// Stop are texts that end the answer.
	Stop []string `json:"stop,omitempty"`
	// Seed makes the choice of words repeatable, with servers that support it.
	Seed *int64 `json:"seed,omitempty"`
	// Extra holds further members of the request, such as ttl, top_k or chat_template_kwargs.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Digest returns the lower-case hexadecimal SHA-256 of the request. The ids of calls, which servers choose, do not
// matter.
func (r Request) Digest() string {
	ids := map[string]string{"": ""}
	ordinal := func(id *string) {
		if _, known := ids[*id]; !known {
			ids[*id] = strconv.Itoa(len(ids))
		}
		*id = ids[*id]
	}
	var long jsonwalk.Long
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		m := &r.Messages[i]
		m.Calls = slices.Clone(m.Calls)
		for j := range m.Calls {
			ordinal(&m.Calls[j].ID)
		}
		ordinal(&m.CallID)
		m.Content = long.Mark(m.Content)
	}
	data, _ := json.Marshal(r) // values that are not JSON cannot be sent either
	sum := sha256.New()
	long.Write(sum, data)
	return hex.EncodeToString(sum.Sum(nil))
}

// Role says who wrote a message.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message of a conversation. Conversations are stored as its JSON.
type Message struct {
	Role Role `json:"role"`
	// Content is the text of the message.
	Content  string `json:"content,omitempty"`
	Thoughts string `json:"thoughts,omitempty"` // of an assistant's message
	// ThoughtsIn is the member that had the Thoughts, such as reasoning_content; they go back in it. Thoughts without it
	// do not go back, and those with [AsServed] go back in the member in which the server had its last thoughts.
	ThoughtsIn string `json:"thoughts_in,omitempty"`
	// Extra is a JSON object: members that nobody reads here, as their writer sent them. A content in it is the Content
	// with what its parts have beside.
	Extra  string     `json:"extra,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`   // of an assistant's message
	CallID string     `json:"call_id,omitempty"` // of a tool's message: the call that it answers
}

// AsServed is the ThoughtsIn of thoughts that a client brings back without their member's name.
const AsServed = "*"

// Tool is a tool that the model may call.
type Tool struct {
	// Name is how the model calls it.
	Name string `json:"name"`
	// Description tells the model what it does.
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // a JSON Schema
	// Extra is a JSON object: further members of the tool.
	Extra string `json:"extra,omitempty"`
	// Mark is private to whoever offers the tool; no model sees it.
	Mark string `json:"mark,omitempty"`
}

// Format asks for an answer in JSON: any object if there is no schema.
type Format struct {
	// Name is a name for the schema, which some servers require.
	Name string `json:"name,omitempty"`
	// Schema is a JSON Schema; empty for any object.
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict bool            `json:"strict,omitempty"` // the server enforces the schema, if it can
	// Extra is a JSON object: further members of the response_format.
	Extra string `json:"extra,omitempty"`
}

// SameModel reports whether two names mean one model. Each name may begin with a path or vendor, and end with a date,
// the tag latest or a file extension.
func SameModel(a, b string) bool {
	a, b = trimModel(a), trimModel(b)
	return within(a, b) || within(undated(a), b) || within(a, undated(b))
}

func trimModel(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), `\`, "/")
	for _, end := range []string{".gguf", ":latest", "-latest"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

func within(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// undated removes a release date from the end: year, month and day, or month and day.
func undated(name string) string {
	date := regexp.MustCompile(`-(\d{4}-\d\d-\d\d|\d{8}|(0\d|1[0-2])([0-2]\d|3[01]))$`)
	return date.ReplaceAllString(name, "")
}
