package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/messages/model"
)

// ServerProfile is what "provider check" has learned about a server. The zero value says nothing.
type ServerProfile struct {
	Kind    string        `json:"kind,omitempty"`    // for example LMStudio
	Profile model.Profile `json:"profile,omitempty"` // how the server ends an answer
	// Thoughts is the dialect in which the model marks its thoughts, for decode.NewThoughts.
	Thoughts string `json:"thoughts,omitempty"`
	// Model is the model with that dialect; "" means all models.
	Model string `json:"model,omitempty"`
	// Off are the request fields that switch thinking off.
	Off map[string]json.RawMessage `json:"off,omitempty"`
	// NoUsage says that stream_options must not be sent.
	NoUsage bool `json:"no_usage,omitempty"`
	// Refuses lists request fields that the server refuses. The Client omits them if they are temperature, top_p, seed,
	// stop, or in the request's Extra.
	Refuses []string `json:"refuses,omitempty"`
}

// dialect returns the dialect of thoughts in the answer to a request with the fields. It is Auto for another model than
// the checked one, and for a request that switches thinking off.
func (s *ServerProfile) dialect(name string, fields map[string]json.RawMessage) decode.Dialect {
	if s == nil || s.Model != "" && name != "" && !model.SameModel(name, s.Model) {
		return decode.Auto
	}
	for field, value := range s.Off {
		if bytes.Equal(fields[field], value) {
			return decode.Auto
		}
	}
	return decode.Dialect(s.Thoughts)
}

// The known kinds of servers. All of them end every answer with [DONE].
const (
	OpenAI     = "openai"
	LMStudio   = "lmstudio"
	LlamaCPP   = "llamacpp"
	VLLM       = "vllm"
	Ollama     = "ollama"
	liteLLM    = "litellm"
	openRouter = "openrouter"
)

// kindByAddress recognizes a server by its host, or by a port that only one kind uses. Otherwise it returns "".
func kindByAddress(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	switch {
	case host == "api.openai.com", strings.HasSuffix(host, ".openai.azure.com"):
		return OpenAI
	case host == "openrouter.ai":
		return openRouter
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

// kindByAnswer recognizes a server by a header of its response. For vLLM and LiteLLM neither the port nor the web
// server alone is sufficient.
func kindByAnswer(u *url.URL, h http.Header) string {
	server := strings.ToLower(h.Get("Server"))
	uvicorn := strings.Contains(server, "uvicorn")
	switch {
	case strings.Contains(server, "llama.cpp"):
		return LlamaCPP
	case h.Get("X-Litellm-Version") != "", h.Get("X-Litellm-Call-Id") != "", uvicorn && u.Port() == "4000":
		return liteLLM
	case strings.Contains(server, "vllm"), uvicorn && u.Port() == "8000":
		return VLLM
	case h.Get("Openai-Processing-Ms") != "":
		return OpenAI
	}
	return ""
}

// profile says how the server ends an answer, as far as that is known.
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
