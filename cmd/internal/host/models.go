package host

import (
	"cmp"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// prompt defines the job. All runs share the client.
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
