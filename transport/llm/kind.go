package llm

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

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
