package llm

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// ollama is the native protocol of Ollama.
type ollama struct{ *Client }

// ollamaTags holds the models of /api/tags or, with the context, those of /api/ps.
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

// models merges the list of models with that of running ones, and asks for the details of the first ones.
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
