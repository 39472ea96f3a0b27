package llm

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// lmstudio is the native protocol of LM Studio, from version 0.4.0 on.
type lmstudio struct {
	*Client
	seen *lmstudioList // the list, until it is outdated
}

type lmstudioList struct {
	Models []lmstudioModel `json:"models"`
}

// lmstudioModel is a model in LM Studio's list. Quantization is nil for models that have none.
type lmstudioModel struct {
	Type         string `json:"type"` // llm or embedding
	Key          string `json:"key"`
	Format       string `json:"format"`
	MaxContext   int    `json:"max_context_length"`
	Quantization *struct {
		Name string `json:"name"`
	} `json:"quantization"`
	Instances []struct {
		ID     string `json:"id"`
		Config struct {
			Context int `json:"context_length"`
		} `json:"config"`
	} `json:"loaded_instances"`
	Capabilities struct {
		Vision bool `json:"vision"`
	} `json:"capabilities"`
}

// lmstudio returns the native protocol if the server is LM Studio. LM Studio answers any path, so the response must
// contain the list.
func (c *Client) lmstudio(ctx context.Context) (native, error) {
	list, err := (&lmstudio{Client: c}).list(ctx)
	switch {
	case err != nil:
		return nil, err
	case list.Models == nil:
		return nil, messages.Errorf(messages.CauseProviderError, "%s is not LM Studio", c.base.Host)
	}
	return &lmstudio{c, &list}, nil
}

func (l *lmstudio) kind() string { return LMStudio }

// list returns the models. It reuses the last list until that is outdated.
func (l *lmstudio) list(ctx context.Context) (lmstudioList, error) {
	if l.seen != nil {
		return *l.seen, nil
	}
	return get[lmstudioList](ctx, l.Client, l.root()+"/api/v1/models")
}

// models returns LM Studio's list.
func (l *lmstudio) models(ctx context.Context) ([]Info, error) {
	list, err := l.list(ctx)
	var out []Info
	for _, m := range list.Models {
		i := Info{ID: m.Key, Loaded: len(m.Instances) > 0, MaxContext: m.MaxContext, Kind: m.kind(), Format: m.Format, Resizable: true}
		if i.Loaded {
			i.Context = m.Instances[0].Config.Context
		}
		if m.Quantization != nil {
			i.Quantization = m.Quantization.Name
		}
		out = append(out, i)
	}
	return out, err
}

// kind returns the name that Info has for the type.
func (m lmstudioModel) kind() string {
	switch {
	case m.Type == "embedding":
		return "embeddings"
	case m.Capabilities.Vision:
		return "vlm"
	}
	return m.Type
}

// load first unloads the model, because LM Studio would otherwise load it a second time.
func (l *lmstudio) load(ctx context.Context, id string, o LoadOptions) error {
	if o.TTL > 0 {
		l.seen = nil
		return l.loadFor(ctx, id, o)
	}
	if err := l.unload(ctx, id); err != nil {
		return err
	}
	ask := map[string]any{"model": id}
	if o.Context > 0 {
		ask["context_length"] = o.Context
	}
	_, err := post[json.RawMessage](ctx, l.Client, l.root()+"/api/v1/models/load", ask)
	return err
}

// unload ends all instances of a model. id names the model or an instance.
func (l *lmstudio) unload(ctx context.Context, id string) error {
	list, err := l.list(ctx)
	l.seen = nil
	if err != nil {
		return err
	}
	for _, m := range list.Models {
		for _, instance := range m.Instances {
			if m.Key != id && instance.ID != id {
				continue
			}
			ask := map[string]any{"instance_id": instance.ID}
			if _, err := post[json.RawMessage](ctx, l.Client, l.root()+"/api/v1/models/unload", ask); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadFor loads a model by requesting one token, because only a request can set the time to live.
func (c *Client) loadFor(ctx context.Context, id string, o LoadOptions) error {
	if o.Context > 0 {
		return messages.InvalidInput("LM Studio takes a context or a time to live, not both")
	}
	seconds := strconv.AppendInt(nil, int64(max(o.TTL, time.Second)/time.Second), 10)
	r := model.Request{Model: id, MaxTokens: 1, Messages: []model.Message{{Role: model.User, Content: "."}},
		Extra: map[string]json.RawMessage{"ttl": seconds}}
	for part, err := range c.Stream(ctx, r) {
		if _, ok := part.(model.End); ok && messages.CodeOf(err) != messages.CauseEmptyCompletion {
			return err
		}
	}
	return nil
}
