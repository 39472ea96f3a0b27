package llm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Info describes a model of a server.
type Info struct {
	ID string // its name in requests
	// Loaded says that the model can answer at once. It is true for all models of a server that does not load models on
	// demand.
	Loaded       bool
	Context      int    // the loaded context in tokens; 0 if unknown
	MaxContext   int    // the longest possible context in tokens; 0 if unknown
	Kind         string // "llm", "vlm", "embeddings", or "" if unknown
	Format       string // "gguf", "mlx", or ""
	Quantization string // such as Q4_K_M
	Server       string // LMStudio, LlamaCPP and so on; "" if unknown
	Resizable    bool   // Load can change the context, and it then stays changed
}

// Find returns the model with the name, or else one with an equivalent name, such as tiny:latest for tiny on Ollama. It
// returns nil if there is none.
func Find(list []Info, name string) *Info {
	i := slices.IndexFunc(list, func(m Info) bool { return m.ID == name })
	if i < 0 {
		i = slices.IndexFunc(list, func(m Info) bool { return model.SameModel(m.ID, name) })
	}
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Enlarge says how to get a context of at least so many tokens on the model's server. It never suggests more than the
// model supports.
func (i Info) Enlarge(tokens int) string {
	if i.MaxContext > 0 {
		tokens = min(tokens, i.MaxContext)
	}
	switch {
	case i.MaxContext > 0 && i.Context >= i.MaxContext:
		return fmt.Sprintf("send less, or use a model that was trained for more than %d tokens", i.MaxContext)
	case i.Resizable:
		return fmt.Sprintf("load the model with a larger context: lastword models load %s --context %d", i.ID, tokens)
	case i.Server == LMStudio:
		return fmt.Sprintf("set a context of %d tokens for the model in LM Studio, and load it again", tokens)
	case i.Server == LlamaCPP:
		return fmt.Sprintf("start llama-server with --ctx-size %d", tokens)
	case i.Server == VLLM:
		return fmt.Sprintf("start vLLM with --max-model-len %d", tokens)
	}
	return "send less, or use a model with a longer context"
}

// Models asks the server for its kind and its models. The kind is "" if unknown. Errors: a [messages.Error] with
// provider_error or transport_closed, or the cause of ctx.
func (c *Client) Models(ctx context.Context) (server string, list []Info, err error) {
	n, err := c.native(ctx)
	if err != nil {
		return "", nil, err
	}
	list, err = n.models(ctx)
	for i := range list {
		list[i].Server = n.kind()
	}
	if err == nil {
		c.seen.Store(&list)
	}
	return n.kind(), list, err
}

// info returns what the server last said about the model, or the zero Info. With ask, it briefly asks a server that has
// not been asked before.
func (c *Client) info(ctx context.Context, name string, ask bool) Info {
	list := c.seen.Load()
	if list == nil && ask {
		const patience = 2 * time.Second
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, now, _ := c.Models(ctx)
		list = &now
	}
	if list != nil {
		if found := Find(*list, name); found != nil {
			return *found
		}
	}
	return Info{ID: name, Server: c.serverKind()}
}

// LoadOptions say how to load a model. Zero fields leave the choice to the server.
type LoadOptions struct {
	Context int // tokens
	// TTL is how long an idle model stays loaded. LM Studio accepts TTL or Context, but not both.
	TTL time.Duration
}

// Load loads the model, and returns when it is loaded. Errors: as for [Client.Models], and invalid_input if the
// server cannot load models, or not with these options.
func (c *Client) Load(ctx context.Context, id string, o LoadOptions) (Info, error) {
	l, err := c.loader(ctx)
	if err == nil {
		err = l.load(ctx, id, o)
	}
	if err != nil {
		return Info{}, err
	}
	list, err := l.models(ctx)
	if err != nil {
		return Info{}, err
	}
	if m := Find(list, id); m != nil {
		m.Server = l.kind()
		return *m, nil
	}
	return Info{}, messages.InvalidInput("%s has no model %s", c.base.Host, id)
}

// Unload unloads the model. It does nothing if the model is not loaded.
func (c *Client) Unload(ctx context.Context, id string) error {
	l, err := c.loader(ctx)
	if err != nil {
		return err
	}
	return l.unload(ctx, id)
}

// loader returns the protocol of a server that loads models on request. Other servers get their models when they start.
func (c *Client) loader(ctx context.Context) (loader, error) {
	n, err := c.native(ctx)
	if err != nil {
		return nil, err
	}
	if l, ok := n.(loader); ok {
		return l, nil
	}
	server := cmp.Or(n.kind(), "the server")
	return nil, messages.InvalidInput("%s at %s cannot load models on request; start it with the model", server, c.base.Host)
}

// native implements the native protocol of one kind of server.
type native interface {
	kind() string
	models(ctx context.Context) ([]Info, error)
}

// loader is implemented by a native whose server can load models.
type loader interface {
	native
	load(ctx context.Context, id string, o LoadOptions) error
	unload(ctx context.Context, id string) error
}

// listed is the list of models of any server, including members that only some servers add.
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

// native determines the kind of the server: from its address or profile, from its list of models, or by probing.
func (c *Client) native(ctx context.Context) (native, error) {
	switch c.serverKind() {
	case OpenAI, openRouter, liteLLM:
		return generic{c, c.serverKind()}, nil
	case LMStudio:
		if n, err := c.lmstudio(ctx); !unsupported(err) {
			return n, err
		}
		return generic{c, ""}, nil // older than 0.4.0
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
			return generic{c, VLLM}, nil
		case m.OwnedBy == "library":
			return ollama{c}, nil
		}
	}
	return c.probe(ctx)
}

// probe tries endpoints that only one kind of server has.
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
	return generic{c, c.serverKind()}, nil
}

// serverKind returns the kind of the server according to its profile, host or port; "" if these do not tell.
func (c *Client) serverKind() string {
	if s := c.config.Server; s != nil && s.Kind != "" {
		return s.Kind
	}
	return kindByAddress(c.base)
}

// generic is a server that has a list of models but no native protocol.
type generic struct {
	*Client
	known string
}

func (p generic) kind() string { return p.known }

// models returns the standard list. The standard has no member for the context, so servers name it differently.
func (p generic) models(ctx context.Context) ([]Info, error) {
	list, err := get[listed](ctx, p.Client, p.base.String()+"/models")
	var out []Info
	for _, m := range list.Data {
		length := cmp.Or(m.MaxModelLen, m.ContextLength, m.MaxContext)
		out = append(out, Info{ID: m.ID, Loaded: true, Context: length, MaxContext: length})
	}
	return out, err
}
