package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// ServerProfile is what a check of a server has learned. The zero value is that of one of which nothing is known.
type ServerProfile struct {
	Kind    string        `json:"kind,omitempty"`    // one of the Kinds
	Profile model.Profile `json:"profile,omitempty"` // how it ends an answer
	// Thoughts is the dialect of its model's thoughts, as decode.NewThoughts takes it.
	Thoughts string `json:"thoughts,omitempty"`
	// Model is the one whose dialect that is; "" for any.
	Model string `json:"model,omitempty"`
	// Off are fields of a request's body that switch its thoughts off.
	Off map[string]json.RawMessage `json:"off,omitempty"`
	// NoUsage says that stream_options must not be sent.
	NoUsage bool `json:"no_usage,omitempty"`
	// Refuses are fields of a request's body that the server does not take. They are left out: temperature, top_p, seed,
	// stop and whatever a request has as Extra.
	Refuses []string `json:"refuses,omitempty"`
}

// dialect is that of the model's thoughts in the answer to a request with the fields. What one model does says nothing
// of another, and an answer whose thoughts are switched off does not begin inside one.
func (s *ServerProfile) dialect(name string, fields map[string]json.RawMessage) decode.Dialect {
	if s == nil || s.Model != "" && name != "" && name != s.Model {
		return decode.Auto
	}
	for field, value := range s.Off {
		if bytes.Equal(fields[field], value) {
			return decode.Auto
		}
	}
	return decode.Dialect(s.Thoughts)
}

// spared is the request without what the server refuses.
func (s *ServerProfile) withoutRefused(r model.Request) model.Request {
	if s == nil || len(s.Refuses) == 0 {
		return r
	}
	r.Extra = maps.Clone(r.Extra)
	for _, field := range s.Refuses {
		delete(r.Extra, field)
	}
	if slices.Contains(s.Refuses, "temperature") {
		r.Temperature = nil
	}
	if slices.Contains(s.Refuses, "top_p") {
		r.TopP = nil
	}
	if slices.Contains(s.Refuses, "seed") {
		r.Seed = nil
	}
	if slices.Contains(s.Refuses, "stop") {
		r.Stop = nil
	}
	return r
}

// The kinds of server that are known. All of them end every answer with [DONE].
const (
	OpenAI     = "openai"
	LMStudio   = "lmstudio"
	LlamaCPP   = "llamacpp"
	VLLM       = "vllm"
	Ollama     = "ollama"
	LiteLLM    = "litellm"
	OpenRouter = "openrouter"
)

// kindByAddress knows a server by the host, or by a port that no other server has for its own; "" for any other.
func kindByAddress(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	switch {
	case host == "api.openai.com", strings.HasSuffix(host, ".openai.azure.com"):
		return OpenAI
	case host == "openrouter.ai":
		return OpenRouter
	}
	switch u.Port() {
	case "1234":
		return LMStudio
	case "11434":
		return Ollama
	case "9931":
		return LlamaCPP
	}
	return ""
}

// kindByAnswer knows a server by the header of its answer. The ports of vLLM and LiteLLM have many users, and so has
// their web server; together they are enough.
func kindByAnswer(u *url.URL, h http.Header) string {
	server := strings.ToLower(h.Get("Server"))
	uvicorn := strings.Contains(server, "uvicorn")
	switch {
	case strings.Contains(server, "llama.cpp"):
		return LlamaCPP
	case h.Get("X-Litellm-Version") != "", h.Get("X-Litellm-Call-Id") != "", uvicorn && u.Port() == "4000":
		return LiteLLM
	case strings.Contains(server, "vllm"), uvicorn && u.Port() == "8000":
		return VLLM
	case h.Get("Openai-Processing-Ms") != "":
		return OpenAI
	}
	return ""
}

// profile is how the server ends an answer, as far as that is known.
func (c *Client) profile(h http.Header) model.Profile {
	if c.config.Profile != "" {
		return c.config.Profile
	}
	if s := c.config.Server; s != nil && s.Profile != "" {
		return s.Profile
	}
	if cmp.Or(kindByAddress(c.base), kindByAnswer(c.base, h)) != "" {
		return model.Strict
	}
	return model.Generic
}
