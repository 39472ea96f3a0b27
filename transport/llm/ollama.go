package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
)

// ollama is the native protocol of Ollama.
type ollama struct{ *Client }

// ollamaTags holds the models of /api/tags or, with the context, of /api/ps.
type ollamaTags struct {
	Models []struct {
		Name    string `json:"name"`
		Context int    `json:"context_length"` // set if the model is loaded
		Details struct {
			Format       string `json:"format"`
			Quantization string `json:"quantization_level"`
		} `json:"details"`
	} `json:"models"`
}

// ollamaShow holds the details of one model.
type ollamaShow struct {
	Capabilities []string                   `json:"capabilities"`
	Info         map[string]json.RawMessage `json:"model_info"`
}

const mostShown = 100 // maximum number of models whose details are requested

func (o ollama) kind() string { return Ollama }

// tags returns the list of models. Other servers may answer this path too, but without such a list.
func (o ollama) tags(ctx context.Context) (ollamaTags, error) {
	tags, err := get[ollamaTags](ctx, o.Client, o.root()+"/api/tags")
	if err == nil && tags.Models == nil {
		err = o.rejection(404, nil)
	}
	return tags, err
}

// models merges the list of models with the list of running ones, and asks for the details of the first ones.
func (o ollama) models(ctx context.Context) ([]Info, error) {
	tags, err := o.tags(ctx)
	if err != nil {
		return nil, err
	}
	running, err := get[ollamaTags](ctx, o.Client, o.root()+"/api/ps")
	if err != nil {
		return nil, err
	}
	var out []Info
	for n, m := range tags.Models {
		i := Info{ID: m.Name, Format: m.Details.Format, Quantization: m.Details.Quantization, Resizable: true}
		for _, r := range running.Models {
			if r.Name == m.Name {
				i.Loaded, i.Context = true, r.Context
			}
		}
		if n < mostShown {
			if err := o.show(ctx, &i); err != nil {
				return nil, err
			}
		}
		out = append(out, i)
	}
	return out, nil
}

// show adds the kind and the longest context of a model. The loaded context is in the list of running models.
func (o ollama) show(ctx context.Context, i *Info) error {
	show, err := post[ollamaShow](ctx, o.Client, o.root()+"/api/show", map[string]any{"model": i.ID})
	if err != nil {
		if unsupported(err) {
			return nil // removed in the meantime
		}
		return err
	}
	for name, value := range show.Info {
		if strings.HasSuffix(name, ".context_length") {
			i.MaxContext = int(count(value))
		}
	}
	switch {
	case slices.Contains(show.Capabilities, "embedding"):
		i.Kind = "embeddings"
	case slices.Contains(show.Capabilities, "vision"):
		i.Kind = "vlm"
	case slices.Contains(show.Capabilities, "completion"):
		i.Kind = "llm"
	}
	return nil
}

// load sends an empty prompt, which loads the model.
func (o ollama) load(ctx context.Context, id string, opt LoadOptions) error {
	ask := map[string]any{"model": id, "stream": false}
	if opt.TTL > 0 {
		ask["keep_alive"] = strconv.FormatInt(int64(max(opt.TTL, time.Second)/time.Second), 10) + "s"
	}
	if opt.Context > 0 {
		ask["options"] = map[string]any{"num_ctx": opt.Context}
	}
	return o.generate(ctx, id, ask)
}

func (o ollama) unload(ctx context.Context, id string) error {
	return o.generate(ctx, id, map[string]any{"model": id, "stream": false, "keep_alive": 0})
}

// generate sends a request without a prompt, with which Ollama loads or unloads a model.
func (o ollama) generate(ctx context.Context, id string, ask map[string]any) error {
	_, err := post[json.RawMessage](ctx, o.Client, o.root()+"/api/generate", ask)
	if unsupported(err) {
		return messages.InvalidInput("Ollama at %s has no model %s; install it with ollama pull %s", o.base.Host, id, id)
	}
	return err
}

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
		for _, name := range []string{"reasoning_content", "reasoning"} {
			if thought, ok := turn[name]; ok {
				turn["thinking"] = thought
				delete(turn, name)
			}
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
	var text []byte
	jsonwalk.Object(c.raw, func(key, value []byte) {
		switch string(key) {
		case "message":
			c.message = value
		case "done":
			done = string(value) == "true"
		case "prompt_eval_count":
			text = fmt.Appendf(text, `"prompt_tokens":%s,`, value)
		case "eval_count":
			text = fmt.Appendf(text, `"completion_tokens":%s,`, value)
		}
	})
	if done && text != nil {
		c.usage = append(append([]byte{'{'}, text[:len(text)-1]...), '}')
	}
	return done
}
