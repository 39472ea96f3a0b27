package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

// Ollama's OpenAI route does not accept a context length. A request there reloads the model with the server's default,
// silently cuts longer prompts, and drops errors within a stream. Therefore Ollama is called on its native route,
// /api/chat: go-openai's request is translated, and each line of the response is read as a chunk.

// ollamaLoaded asks Ollama for the context that is loaded for a model; 0 if the model is not loaded. ok is false if the
// server is not known to be Ollama, or does not answer like it.
func (c *Client) ollamaLoaded(ctx context.Context, name string) (tokens int, ok bool) {
	if c.info(ctx, name, false).Server != Ollama {
		return 0, false
	}
	running, err := get[ollamaTags](ctx, c, c.root()+"/api/ps")
	if err != nil || running.Models == nil {
		return 0, false
	}
	var list []Info
	for _, m := range running.Models {
		list = append(list, Info{ID: m.Name, Context: m.Context})
	}
	if m := Find(list, name); m != nil {
		return m.Context, true
	}
	return 0, true
}

// toOllama translates the body of a request. It keeps the loaded context. Ollama must not cut the prompt or shift the
// context; the answer then ends with "length".
func toOllama(body []byte, loaded int) ([]byte, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	options := map[string]any{}
	if loaded > 0 {
		options["num_ctx"] = loaded
	}
	out := map[string]any{"stream": true, "truncate": false, "shift": false, "options": options}
	for name, value := range in {
		switch name {
		case "stream", "stream_options", "tool_choice":
		case "model", "tools", "think", "keep_alive", "format":
			out[name] = value
		case "messages":
			turns, err := ollamaTurns(value)
			if err != nil {
				return nil, err
			}
			out[name] = turns
		case "response_format":
			out["format"] = ollamaFormat(value)
		case "max_tokens", "max_completion_tokens":
			options["num_predict"] = value
		case "ttl":
			out["keep_alive"] = value // in seconds, like ttl
		case "reasoning_effort":
			if out["think"] = value; string(value) == `"none"` {
				out["think"] = false
			}
		case "chat_template_kwargs":
			var k struct {
				Think *bool `json:"enable_thinking"`
			}
			if json.Unmarshal(value, &k) == nil && k.Think != nil {
				out["think"] = *k.Think
			}
		default: // such as temperature, top_p, seed, stop, top_k; Ollama ignores unknown options
			options[name] = value
		}
	}
	return json.Marshal(out)
}

// ollamaFormat returns the schema, or "json" if any object is allowed.
func ollamaFormat(value json.RawMessage) any {
	var f struct {
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if json.Unmarshal(value, &f) == nil && len(f.Schema.Schema) > 0 {
		return f.Schema.Schema
	}
	return "json"
}

// ollamaTurns converts messages. The arguments of calls, which are text at OpenAI, become objects.
func ollamaTurns(value json.RawMessage) (turns []map[string]any, err error) {
	if err := json.Unmarshal(value, &turns); err != nil {
		return nil, err
	}
	for _, turn := range turns {
		if turn["content"] == nil {
			turn["content"] = ""
		}
		if thought, ok := turn["reasoning_content"]; ok {
			turn["thinking"] = thought
			delete(turn, "reasoning_content")
		}
		calls, _ := turn["tool_calls"].([]any)
		for _, c := range calls {
			call, _ := c.(map[string]any)
			f, _ := call["function"].(map[string]any)
			if text, ok := f["arguments"].(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
				f["arguments"] = json.RawMessage(text)
			}
		}
	}
	return turns, nil
}

// readOllama reads those members of a line that other servers do not have. It reports whether the line is the last one.
func (c *chunk) readOllama() (done bool) {
	var prompt, completion int64
	jsonwalk.Object(c.raw, func(key, value []byte) {
		switch string(key) {
		case "message":
			c.message = value
		case "done":
			done = string(value) == "true"
		case "prompt_eval_count":
			prompt = count(value)
		case "eval_count":
			completion = count(value)
		}
	})
	if done {
		c.usage = fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d}`, prompt, completion)
	}
	return done
}
