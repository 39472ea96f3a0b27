package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// llamacpp is the native protocol of llama-server, with a single model or as a router of several.
type llamacpp struct{ *Client }

// pollTime is the time between two questions whether a model is loaded.
const pollTime = 500 * time.Millisecond

// llamacppProps holds what /props tells about a model. Context is the size for one slot.
type llamacppProps struct {
	Settings struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
}

func (l llamacpp) kind() string { return LlamaCPP }

func (l llamacpp) list(ctx context.Context) (listed, error) {
	return get[listed](ctx, l.Client, l.base.String()+"/models")
}

// models asks each loaded model for its context, because the list has the context of all slots together.
func (l llamacpp) models(ctx context.Context) ([]Info, error) {
	list, err := l.list(ctx)
	var out []Info
	for _, m := range list.Data {
		i := Info{ID: m.ID, MaxContext: m.Meta.MaxContext, Format: "gguf"}
		if i.Loaded = m.Status.Value == "" || m.Status.Value == "loaded"; i.Loaded {
			address := l.root() + "/props"
			if m.Status.Value != "" {
				address += "?autoload=false&model=" + url.QueryEscape(m.ID)
			}
			props, err := get[llamacppProps](ctx, l.Client, address)
			if err != nil && !unsupported(err) {
				return nil, err
			}
			i.Context = cmp.Or(props.Settings.Context, m.Meta.Context)
		}
		out = append(out, i)
	}
	return out, err
}

// load polls after its request, because the router answers before the model is loaded.
func (l llamacpp) load(ctx context.Context, id string, o LoadOptions) error {
	if o.Context > 0 || o.TTL > 0 {
		return messages.InvalidInput("llama.cpp takes the context and the time to live as flags of the server, not per model")
	}
	if status, err := l.status(ctx, id); err != nil || running(status) {
		return err
	} else if status != "loading" {
		if err := l.order(ctx, "load", id); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(l.limits.FirstToken)
	for {
		status, err := l.status(ctx, id)
		switch {
		case err != nil:
			return err
		case running(status):
			return nil
		case status == "unloaded", status == "failed":
			return messages.InvalidInput("llama.cpp could not load %s; see its log", id)
		case time.Now().After(deadline):
			return unreachable("llama.cpp has not loaded %s within %s", id, l.limits.FirstToken)
		case !sleep(ctx, pollTime):
			return context.Cause(ctx)
		}
	}
}

// running reports whether requests can use the model. A sleeping model is loaded again by a request.
func running(status string) bool { return status == "loaded" || status == "sleeping" }

// unload frees a model. It is no error if the model is not loaded.
func (l llamacpp) unload(ctx context.Context, id string) error {
	if status, err := l.status(ctx, id); err != nil || status == "unloaded" {
		return err
	}
	return l.order(ctx, "unload", id)
}

// order sends a command to the router. A server with a single model has no such route.
func (l llamacpp) order(ctx context.Context, what, id string) error {
	_, err := post[json.RawMessage](ctx, l.Client, l.root()+"/models/"+what, map[string]any{"model": id})
	if unsupported(err) {
		return messages.InvalidInput("llama.cpp at %s cannot %s %s: %v", l.base.Host, what, id, err)
	}
	return err
}

// status returns the state of a model of the router, such as loaded.
func (l llamacpp) status(ctx context.Context, id string) (string, error) {
	list, err := l.list(ctx)
	for _, m := range list.Data {
		if m.ID == id {
			return m.Status.Value, err
		}
	}
	return "", cmp.Or(err, error(messages.InvalidInput("llama.cpp at %s has no model %s", l.base.Host, id)))
}
