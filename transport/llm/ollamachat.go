package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

// Ollama's OpenAI route takes no context: a request there loads the model again with the server's default, cuts a
// prompt that is longer without a word, and drops errors inside a stream. So Ollama is asked on its own route,
// /api/chat: go-openai's request is translated, and a line of the answer is read as a chunk.

// ollamaLoaded asks Ollama for the loaded context of a model; 0 if it is not loaded. ok is false if the server is not
// known to be Ollama, or does not answer like it.
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

// toOllama translates the body of a request. The context that is loaded stays loaded. Ollama must neither cut the
// prompt nor shift the context: the answer then ends for its length.
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
			out["keep_alive"] = value // seconds, too
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
		default: // temperature, top_p, seed, stop, top_k: an option that Ollama lacks is ignored
			options[name] = value
		}
	}
	return json.Marshal(out)
}

// ollamaFormat is the schema, or "json" for any object.
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

// ollamaTurns makes objects of the arguments of calls, which OpenAI has as text.
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

// readOllama reads what a line of Ollama's has beside the members of a chunk. done says that it is the last one.
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
