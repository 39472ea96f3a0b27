package model

import "encoding/json"

// Request is one call of a model.
type Request struct {
	Model    string
	Messages []Message
	Tools    []Tool
	// Choice of tools is "auto" (or empty), "none", "required", or a tool's name.
	Choice string
	// Format of the answer; nil for text.
	Format      *Format
	MaxTokens   int // of the answer; zero leaves the limit to the server
	Temperature *float64
	TopP        *float64
	Stop        []string
	Seed        *int64
	// Extra are more fields of the request, such as ttl, top_k or chat_template_kwargs.
	Extra map[string]json.RawMessage
}

// Role says who wrote a message.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of the conversation. Its JSON is the form in which conversations are kept.
type Message struct {
	Role     Role       `json:"role"`
	Content  string     `json:"content,omitempty"`
	Thoughts string     `json:"thoughts,omitempty"` // of an assistant's message; only some servers want them back
	Calls    []ToolCall `json:"calls,omitempty"`    // of an assistant's message
	CallID   string     `json:"call_id,omitempty"`  // of a tool's message: the call that it answers
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // a JSON Schema
	// Mark is a word of whoever offers the tool; no model sees it.
	Mark string `json:"mark,omitempty"`
}

// Format asks for JSON: any object if there is no schema.
type Format struct {
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict bool            `json:"strict,omitempty"` // the server enforces the schema, if it can
}
