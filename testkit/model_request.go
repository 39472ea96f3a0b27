package testkit

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ModelRequest is a request as a [Model] read it.
type ModelRequest struct {
	Number       int // in the order of coming, from 0
	Conn         int // the connection, in the order of coming, from 0
	Method, Path string
	Query        url.Values
	// Header lacks Authorization, whose value is nowhere.
	Header http.Header
	// Bearer says that the request carried a bearer token, Authorized that it is the one asked for, if any is.
	Bearer, Authorized bool
	Body               []byte
	// Chat is the body of a request for a completion; the zero value where it is none.
	Chat ChatRequest

	close bool // the client asks to close the connection
}

// ChatRequest is the body of a request for a completion.
type ChatRequest struct {
	Model          string
	Messages       []ChatMessage
	Stream         bool
	IncludeUsage   bool // stream_options.include_usage
	MaxTokens      int  // max_tokens or max_completion_tokens
	Temperature    *float64
	ResponseFormat json.RawMessage
	Tools          []json.RawMessage
	ToolChoice     json.RawMessage
	// Extra are all other fields.
	Extra map[string]json.RawMessage
}

// ChatMessage is one message of a ChatRequest.
type ChatMessage struct {
	Role    string
	Content string // the texts of its parts, where it has parts
	CallID  string // tool_call_id
	Calls   []json.RawMessage
	Raw     json.RawMessage // all of it
}

const maxRequestBody = 64 << 20

func (m *Model) decode(r *http.Request) (ModelRequest, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequestBody))
	if err != nil {
		return ModelRequest{}, err
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	out := ModelRequest{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
		Bearer: bearer, Authorized: m.options.Key == "" || token == m.options.Key || public(r.URL.Path), close: r.Close}
	out.Header.Del("Authorization")
	if r.URL.Path == chatPath {
		out.Chat = decodeChat(body)
	}
	return out, nil
}

// public endpoints need no key.
func public(path string) bool { return path == "/health" || path == "/v1/health" }

// decodeChat reads what it can: a field of another type than ours stays empty.
func decodeChat(body []byte) ChatRequest {
	var c ChatRequest
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(body, &fields) != nil {
		return c
	}
	var messages []json.RawMessage
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	var newer int
	for name, to := range map[string]any{
		"model": &c.Model, "messages": &messages, "stream": &c.Stream, "stream_options": &options,
		"max_tokens": &c.MaxTokens, "max_completion_tokens": &newer, "temperature": &c.Temperature,
		"response_format": &c.ResponseFormat, "tools": &c.Tools, "tool_choice": &c.ToolChoice,
	} {
		if raw, ok := fields[name]; ok {
			_ = json.Unmarshal(raw, to)
			delete(fields, name)
		}
	}
	c.IncludeUsage, c.MaxTokens = options.IncludeUsage, cmp.Or(newer, c.MaxTokens)
	c.Extra = fields
	for _, raw := range messages {
		c.Messages = append(c.Messages, decodeMessage(raw))
	}
	return c
}

func decodeMessage(raw json.RawMessage) ChatMessage {
	var m struct {
		Role    string            `json:"role"`
		Content json.RawMessage   `json:"content"`
		CallID  string            `json:"tool_call_id"`
		Calls   []json.RawMessage `json:"tool_calls"`
	}
	_ = json.Unmarshal(raw, &m)
	out := ChatMessage{Role: m.Role, CallID: m.CallID, Calls: m.Calls, Raw: raw}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &out.Content) != nil && json.Unmarshal(m.Content, &parts) == nil {
		for _, p := range parts {
			out.Content += p.Text
		}
	}
	return out
}

// tokens is the length of the prompt: a token is four bytes of its text.
func (c ChatRequest) tokens() int {
	n := 0
	for _, m := range c.Messages {
		n += len(m.Content)
	}
	return (n + 3) / 4
}
