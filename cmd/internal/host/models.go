package host

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// prompt defines the job prompt. All runs share one client.
func (h *Options) prompt() actors.Definition {
	return prompt.Define(func() (prompt.Config, error) {
		client, err := h.finder.clients.of(h.finder.Endpoint)
		if err != nil {
			return prompt.Config{}, err
		}
		return prompt.Config{Stream: client.Stream, Model: cmp.Or(h.model, prompt.Auto), Provider: h.finder.Endpoint.Host(),
			Choose: settings.LoadedModel(client)}, nil
	})
}

// modelNames caches the names of the server's models. mu guards last.
type modelNames struct {
	mu   sync.Mutex
	last []string
}

// modelNames implements door.Config.Models.
func (h *Options) modelNames(ctx context.Context, name string) ([]string, error) {
	h.names.mu.Lock()
	last := h.names.last
	h.names.mu.Unlock()
	if slices.Contains(last, name) {
		return last, nil
	}
	client, err := h.finder.clients.of(h.finder.Endpoint)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, listTimeout)
	defer stop()
	_, list, err := client.Models(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list {
		if m.Kind != "embeddings" {
			names = append(names, m.ID)
		}
	}
	h.names.mu.Lock()
	defer h.names.mu.Unlock()
	h.names.last = names
	return names, nil
}
