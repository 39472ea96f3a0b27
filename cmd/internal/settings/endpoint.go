package settings

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// LMStudio is the URL at which LM Studio listens by default.
const LMStudio = "http://127.0.0.1:1234/v1"

// Endpoint holds the flags that name the model server of a command, with its timeouts and limits.
type Endpoint struct {
	BaseURL, KeyFile, Proxy, CAFile string
	profile                         string
	firstToken, idle                time.Duration
	maxAnswer                       ByteSize
	retries                         int
	Env                             environment.Variables
	Secrets                         *redact.Secrets
	// Around, if not nil, wraps the connections of clients.
	Around  func(http.RoundTripper) http.RoundTripper
	Guessed bool // the user did not name the server, so it gets no key that may belong to another
}

// AddFlags adds the flags of a server that is asked for answers.
func (p *Endpoint) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	p.AddServerFlags(flags)
	Group(flags, serverGroup, func() {
		Choice(cmd, flags, &p.profile, "profile", "strict expects [DONE] at the end of every answer, generic does not",
			"auto", string(model.Strict), string(model.Generic))
		flags.DurationVar(&p.firstToken, "first-token", 0, "maximum `time` of silence before the first token (default 10m)")
		flags.DurationVar(&p.idle, "idle", 0, "maximum `time` of silence after the first token (default 5m)")
		flags.Var(&p.maxAnswer, "max-answer", "maximum `bytes` of an answer (default 64MiB)")
		flags.IntVar(&p.retries, "retries", 2, "maximum `number` of retries before the first token")
	})
	LoweredByProject(flags, "max-answer", "first-token", "idle")
	ByOperator(flags, "profile", "retries")
}

// serverGroup is the title of the flags of a server of models.
const serverGroup = "Model server"

// AddServerFlags adds the flags that name the server.
func (p *Endpoint) AddServerFlags(flags *pflag.FlagSet) {
	Group(flags, serverGroup, func() {
		flags.StringVar(&p.BaseURL, "base-url", "", "`URL` of the API (default "+LMStudio+", LM Studio's)")
		flags.StringVar(&p.KeyFile, "key-file", "", "`file` with the server's key; wins over the environment")
		flags.StringVar(&p.Proxy, "proxy", "", "`URL` of a proxy, or none; wins over the environment")
		flags.StringVar(&p.CAFile, "ca-file", "", "PEM `file` of certificates to trust besides the system's")
	})
	ByOperator(flags, "base-url", "key-file", "proxy", "ca-file") // they say where prompts and keys go
}

// Check checks the flags.
func (p *Endpoint) Check() error {
	switch {
	case p.firstToken < 0 || p.idle < 0:
		return Negative("--first-token and --idle")
	case p.retries < 0:
		return Negative("--retries")
	}
	return nil
}

// URL returns the URL of the server.
func (p *Endpoint) URL() string { return cmp.Or(p.BaseURL, LMStudio) }

// Host returns the server's host and port.
func (p *Endpoint) Host() string {
	if u, err := url.Parse(p.URL()); err == nil {
		return u.Host
	}
	return ""
}

// Client returns a client of the server. If timeout is not 0, it limits each call.
func (p *Endpoint) Client(timeout time.Duration) (*llm.Client, error) {
	config := p.Config()
	config.Limits = llm.Limits{ResponseBytes: int64(p.maxAnswer), FirstToken: p.firstToken, Idle: p.idle,
		Request: timeout}
	learned, err := p.LearnedProfile()
	if err != nil {
		return nil, exit.Misconfigured(err)
	}
	if learned != nil {
		config.Server = &learned.Server
	}
	if p.profile != "auto" {
		config.Profile = model.Profile(p.profile)
	}
	if config.Retries = p.retries; p.retries == 0 {
		config.Retries = -1
	}
	if p.Around != nil {
		if config.Transport, err = config.RoundTripper(); err != nil {
			return nil, exit.Misconfigured(err)
		}
		config.Transport = p.Around(config.Transport)
	}
	client, err := llm.New(config)
	return client, exit.Misconfigured(err)
}

// Config returns the configuration of the client: the server's address and key.
func (p *Endpoint) Config() llm.Config {
	config := llm.Config{BaseURL: p.URL(), KeyFile: p.KeyFile, Proxy: p.Proxy, CAFile: p.CAFile, Secrets: p.Secrets}
	if p.KeyFile == "" {
		config.Key = p.key()
	}
	return config
}

// LearnedProfile returns the profile that "provider check" has written for the server, or nil.
func (p *Endpoint) LearnedProfile() (*probe.Profile, error) { return probe.Read(p.ProfileFile()) }

// ProfileFile returns the file of the profile, or "" if the user has no configuration folder.
func (p *Endpoint) ProfileFile() string {
	dir := p.Env.ConfigFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, probe.FileName(p.URL()))
}

// key returns the server's key from the environment. OPENAI_API_KEY is used only for a server that the user has named.
func (p *Endpoint) key() string {
	if key := p.Env.Get(apiKey); key != "" || p.Guessed || p.BaseURL == "" {
		return key
	}
	return p.Env.Get(openAIKey)
}

// StallTimeout returns how long a run may be silent. It is longer than the client's timeouts, because their errors say
// more.
func (p *Endpoint) StallTimeout() time.Duration {
	return max(p.FirstToken(), cmp.Or(p.idle, 5*time.Minute)) + time.Minute
}

// FirstToken returns how long a server may take for the first token, including the time to load its model.
func (p *Endpoint) FirstToken() time.Duration { return cmp.Or(p.firstToken, 10*time.Minute) }

// LoadedModel returns a function that picks a model if the user names none: the first model that the server has loaded,
// or its only one. It returns "" for a server that does not list its models, which then picks one itself.
//
// It picks none on servers such as OpenAI's, which have many models and do not load them on demand.
func LoadedModel(client *llm.Client) func(ctx context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, list, err := client.Models(ctx)
		if err != nil {
			return "", nil // the call itself will report the error
		}
		return PickModel(list)
	}
}

// ModelWindow returns a function that asks the server for the loaded context of a model in tokens. An empty name stands
// for the model in use. The function returns 0 if the server does not tell.
func ModelWindow(client *llm.Client) func(ctx context.Context, name string) int {
	return func(ctx context.Context, name string) int {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, list, err := client.Models(ctx)
		if err != nil {
			return 0
		}
		if name == "" && len(list) == 1 {
			return list[0].Context
		}
		if m := llm.Find(list, name); m != nil {
			return m.Context
		}
		return 0
	}
}

// PickModel returns the first loaded model, or the only one. It returns "" if the list is empty. Errors: invalid_input
// if the user must choose.
func PickModel(list []llm.Info) (string, error) {
	list = stable.DeleteFunc(slices.Clone(list), func(m llm.Info) bool { return strings.HasPrefix(m.Kind, "embedding") })
	for _, m := range list {
		if m.Loaded && SaysLoaded(m) {
			return m.ID, nil
		}
	}
	switch len(list) {
	case 0:
		return "", nil
	case 1:
		return list[0].ID, nil
	}
	return "", messages.InvalidInput("the server has %d models, and none that is the one loaded; name one with --model, such as %s",
		len(list), list[0].ID)
}

// SaysLoaded reports whether the model's server tells loaded models from others. Servers that only speak OpenAI's
// protocol list all models as ready.
func SaysLoaded(m llm.Info) bool {
	return slices.Contains([]string{llm.LMStudio, llm.LlamaCPP, llm.Ollama, llm.VLLM}, m.Server)
}
