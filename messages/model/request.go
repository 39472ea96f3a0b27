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
	MaxTokens   int // of the answer; the server's own if zero
	Temperature *float64
	TopP        *float64
	Stop        []string
	Seed        *int64
	// Extra are more fields of the request's body, such as ttl, top_k or chat_template_kwargs.
	Extra map[string]json.RawMessage
}

// Role says whose a message is.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of the conversation. Thoughts are never part of one.
type Message struct {
	Role    Role
	Content string
	Calls   []ToolCall // of an assistant's message
	CallID  string     // of a tool's message: the call that it answers
}

// Tool is what the model may ask for.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema
}

// Format asks for JSON. Without a schema any object will do.
type Format struct {
	Name   string
	Schema json.RawMessage
	Strict bool // the server keeps the answer to the schema, as far as it can
}
