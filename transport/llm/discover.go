package llm

import (
	"cmp"
	"context"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Info is a model that a server has.
type Info struct {
	ID string // to ask it by
	// Loaded says that it answers without being loaded first; so does every model of a server that does not load.
	Loaded       bool
	Context      int    // tokens that fit as it is loaded; 0 where the server does not say
	MaxContext   int    // tokens that it was made for; likewise
	Kind         string // "llm", "vlm", "embeddings", or "" where the server does not say
	Format       string // "gguf", "mlx", or ""
	Quantization string // such as Q4_K_M
	Server       string // LMStudio, LlamaCPP and so on; "" for one that is not known
}

// Models asks the server what it is and which models it has. Server is "" for one that is not known. Errors are a
// [messages.Error], provider_error or transport_closed, or the context's cause.
func (c *Client) Models(ctx context.Context) (server string, list []Info, err error) {
	n, err := c.native(ctx)
	if err != nil {
		return "", nil, err
	}
	list, err = n.models(ctx)
	for i := range list {
		list[i].Server = n.kind()
	}
	return n.kind(), list, err
}

// LoadOptions say how to load a model. Zero is the server's own choice.
type LoadOptions struct {
	Context int // tokens
	// TTL is how long the model stays without being asked. LM Studio takes it or Context, not both.
	TTL time.Duration
}

// Load loads the model and returns when it is loaded. Errors are as those of Models, and invalid_input where the server
// does not load models or not so.
func (c *Client) Load(ctx context.Context, id string, o LoadOptions) (Info, error) {
	n, err := c.native(ctx)
	if err != nil {
		return Info{}, err
	}
	l, ok := n.(loader)
	if !ok {
		return Info{}, c.cannotLoad(n)
	}
	if err := l.load(ctx, id, o); err != nil {
		return Info{}, err
	}
	return c.loaded(ctx, n, id)
}

// Unload unloads the model; one that is not loaded is left so.
func (c *Client) Unload(ctx context.Context, id string) error {
	n, err := c.native(ctx)
	if err != nil {
		return err
	}
	if l, ok := n.(loader); ok {
		return l.unload(ctx, id)
	}
	return c.cannotLoad(n)
}

func (c *Client) cannotLoad(n native) error {
	server := cmp.Or(n.kind(), "the server")
	return messages.InvalidInput("%s at %s does not load models when asked; start it with the model", server,
		c.base.Host)
}

// loaded is what the server says of a model that it has loaded.
func (c *Client) loaded(ctx context.Context, n native, id string) (Info, error) {
	list, err := n.models(ctx)
	if err != nil {
		return Info{}, err
	}
	for _, m := range list {
		if m.ID == id || m.ID == id+":latest" {
			m.Server = n.kind()
			return m, nil
		}
	}
	return Info{}, messages.InvalidInput("%s has no model %s", c.base.Host, id)
}

// native speaks one kind of server's own protocol.
type native interface {
	kind() string
	models(ctx context.Context) ([]Info, error)
}

// loader is a native whose server loads models when asked.
type loader interface {
	load(ctx context.Context, id string, o LoadOptions) error
	unload(ctx context.Context, id string) error
}

// listed is the list of models that all servers have, with what some add to it.
type listed struct {
	Data []struct {
		ID            string `json:"id"`
		OwnedBy       string `json:"owned_by"`
		MaxModelLen   int    `json:"max_model_len"`      // vLLM
		ContextLength int    `json:"context_length"`     // OpenRouter
		MaxContext    int    `json:"max_context_length"` // Mistral
		Meta          struct {
			Context    int `json:"n_ctx"`
			MaxContext int `json:"n_ctx_train"`
		} `json:"meta"` // llama.cpp
		Status struct {
			Value string `json:"value"`
		} `json:"status"` // llama.cpp as a router
	} `json:"data"`
}

// native finds out what the server is: by what is known of it, by the owner in its list of models, and by asking for
// what only one kind has.
func (c *Client) native(ctx context.Context) (native, error) {
	switch c.Kind() {
	case OpenAI, OpenRouter, LiteLLM:
		return generic{c, c.Kind()}, nil
	case LMStudio:
		return c.lmstudio(ctx)
	case Ollama:
		return ollama{c}, nil
	}
	list, err := get[listed](ctx, c, c.base.String()+"/models")
	if err != nil && !unsupported(err) {
		return nil, err
	}
	for _, m := range list.Data {
		switch {
		case m.OwnedBy == "llamacpp", m.Meta.Context > 0, m.Status.Value != "":
			return llamacpp{c}, nil
		case m.OwnedBy == "vllm", m.MaxModelLen > 0:
			return vllm{c}, nil
		case m.OwnedBy == "library":
			return ollama{c}, nil
		}
	}
	return c.probe(ctx)
}

// probe asks for what only one kind of server has.
func (c *Client) probe(ctx context.Context) (native, error) {
	n, err := c.lmstudio(ctx)
	if err == nil {
		return n, nil
	}
	if !unsupported(err) {
		return nil, err
	}
	if _, err := (ollama{c}).tags(ctx); err == nil {
		return ollama{c}, nil
	} else if !unsupported(err) {
		return nil, err
	}
	return generic{c, c.Kind()}, nil
}

// Kind is the kind of the server as far as it is known without asking: by a check's profile, its host or its port.
func (c *Client) Kind() string {
	if s := c.config.Server; s != nil && s.Kind != "" {
		return s.Kind
	}
	return kindByAddress(c.base)
}

// plain is a server that has no more than the list.
type generic struct {
	*Client
	known string
}

func (p generic) kind() string { return p.known }

func (p generic) models(ctx context.Context) ([]Info, error) {
	list, err := get[listed](ctx, p.Client, p.base.String()+"/models")
	var out []Info
	for _, m := range list.Data {
		length := cmp.Or(m.MaxModelLen, m.ContextLength, m.MaxContext)
		out = append(out, Info{ID: m.ID, Loaded: true, Context: length, MaxContext: length})
	}
	return out, err
}
