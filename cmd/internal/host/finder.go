package host

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// ModelFinder finds the model that describes a repository. It is safe for concurrent use.
type ModelFinder struct {
	Endpoint settings.Endpoint
	Servers  []string // URLs that "auto" tries; nil means the servers of this machine
	clients  clients
	names    modelNames
}

const (
	listTimeout  = 5 * time.Second        // for a list of models
	loadingPause = 250 * time.Millisecond // between two questions to a server that is loading its model
)

// Check checks the endpoint before a run starts.
func (d *ModelFinder) Check(model string) error {
	if model == "" {
		return nil
	}
	client, err := d.Endpoint.Client(0)
	if err == nil {
		client.Close()
	}
	return err
}

// Find is for Model of a generate.Config. If no server is ready, it waits for one that is loading its model.
func (d *ModelFinder) Find(ctx context.Context, name string) (*generate.Model, error) {
	late := messages.Errorf(messages.CauseStalled, "the server was still loading its model after %s", d.Endpoint.FirstToken())
	waiting, stop := context.WithTimeoutCause(ctx, d.Endpoint.FirstToken(), late)
	defer stop()
	for {
		m, err := d.look(ctx, name)
		if !llm.StillLoading(err) {
			return m, err
		}
		select {
		case <-time.After(loadingPause):
		case <-waiting.Done():
			return nil, context.Cause(waiting)
		}
	}
}

// look asks each server once. If none has a model but one is loading a model, it returns that server's error.
func (d *ModelFinder) look(ctx context.Context, name string) (*generate.Model, error) {
	if d.Endpoint.BaseURL != "" || name != generate.AutoModel {
		return d.onServer(ctx, d.Endpoint, name)
	}
	looked := d.Servers
	if looked == nil { // where LM Studio, llama.cpp (new and old) and Ollama listen by default
		looked = []string{settings.LMStudio, "http://127.0.0.1:9931/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:11434/v1"}
	}
	none := providerError("no server with a model answers on this machine; start one, or name it with --base-url")
	for _, url := range looked {
		endpoint := d.Endpoint
		endpoint.BaseURL, endpoint.Guessed = url, true
		m, err := d.onServer(ctx, endpoint, name)
		if err == nil {
			return m, nil
		}
		if llm.StillLoading(err) {
			none = err
		}
	}
	return nil, none
}

// onServer returns the model on one server. A server that does not list its models may still have it.
func (d *ModelFinder) onServer(ctx context.Context, endpoint settings.Endpoint, name string) (*generate.Model, error) {
	client, err := d.clients.of(endpoint)
	if err != nil {
		return nil, err
	}
	learned, err := endpoint.LearnedProfile()
	if err != nil {
		return nil, err
	}
	m := &generate.Model{Stream: client.Stream, Name: name, Server: endpoint.Host()}
	looking, stop := context.WithTimeout(ctx, listTimeout)
	defer stop()
	_, list, err := client.Models(looking)
	if llm.StillLoading(err) {
		return nil, err
	}
	if name == generate.AutoModel {
		if m.Name, err = autoModel(endpoint, list, err); err != nil {
			return nil, err
		}
	}
	if known := llm.Find(list, m.Name); known != nil && known.Loaded {
		m.Context = known.Context
	}
	applyProfile(m, learned)
	return m, nil
}

// autoModel returns the model that "auto" means on a server, given the server's answer to a request for its models.
func autoModel(endpoint settings.Endpoint, list []llm.Info, err error) (string, error) {
	if err != nil {
		return "", providerError("the server at %s does not say which models it has: %v", endpoint.Host(), err)
	}
	name, err := settings.PickModel(list)
	if err == nil && name == "" {
		err = providerError("the server at %s has no model; load one, or name it with --model", endpoint.Host())
	}
	return name, err
}

// applyProfile adds what "provider check" has learned about the server, and about the model if it checked that one.
func applyProfile(m *generate.Model, learned *probe.Profile) {
	if learned == nil {
		return
	}
	m.Structured = learned.Structured
	if model.SameModel(learned.Model, m.Name) {
		m.Extra, m.Context = learned.Server.Off, cmp.Or(m.Context, learned.Context)
	}
}

func providerError(format string, args ...any) error {
	return messages.Errorf(messages.CauseProviderError, format, args...)
}

// Close closes the connections to all servers.
func (d *ModelFinder) Close() { d.clients.close() }

// clients caches one client per server. The zero value is ready, and safe for concurrent use.
type clients struct {
	mu       sync.Mutex
	byServer map[serverKey]*llm.Client
}

// serverKey identifies a server. A server that was guessed gets no API key, so it needs its own client.
type serverKey struct {
	url     string
	guessed bool
}

// of returns the client for a server. All jobs share it, and so its connections.
func (c *clients) of(endpoint settings.Endpoint) (*llm.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	which := serverKey{endpoint.URL(), endpoint.Guessed}
	if client := c.byServer[which]; client != nil {
		return client, nil
	}
	client, err := endpoint.Client(0)
	if err != nil {
		return nil, err
	}
	if c.byServer == nil {
		c.byServer = map[serverKey]*llm.Client{}
	}
	c.byServer[which] = client
	return client, nil
}

func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.byServer {
		client.Close()
	}
}

// client returns the client for the finder's own server.
func (d *ModelFinder) client() (*llm.Client, error) { return d.clients.of(d.Endpoint) }

// prompt defines the job prompt. All runs share one client.
func (c *catalog) prompt() actors.Definition {
	return prompt.Define(func() (prompt.Config, error) {
		client, err := c.finder.client()
		if err != nil {
			return prompt.Config{}, err
		}
		return prompt.Config{Stream: client.Stream, Model: cmp.Or(c.model, prompt.Auto), Provider: c.endpoint.Host(),
			Choose: settings.LoadedModel(client)}, nil
	})
}

// modelNames caches the names of the server's models. mu guards last.
type modelNames struct {
	mu   sync.Mutex
	last []string
}

// modelNames implements door.Config.Models.
func (d *ModelFinder) modelNames(ctx context.Context, name string) ([]string, error) {
	d.names.mu.Lock()
	last := d.names.last
	d.names.mu.Unlock()
	if slices.Contains(last, name) {
		return last, nil
	}
	client, err := d.client()
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
	d.names.mu.Lock()
	defer d.names.mu.Unlock()
	d.names.last = names
	return names, nil
}
