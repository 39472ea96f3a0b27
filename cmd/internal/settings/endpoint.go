package settings

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

// LMStudio is where LM Studio listens if nobody says otherwise.
const LMStudio = "http://127.0.0.1:1234/v1"

// Endpoint is the server of models that a command asks, and how patiently.
type Endpoint struct {
	BaseURL, KeyFile, Proxy, CAFile string
	profile                         string
	firstToken, idle                time.Duration
	maxAnswer                       ByteSize
	retries                         int
	Env                             environment.Variables
	Secrets                         *redact.Secrets
	Guessed                         bool // nobody named the server: it is not to see a key that was meant for another
}

// AddFlags adds the flags of a server that is asked for answers.
func (p *Endpoint) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	p.AddServerFlags(cmd, flags)
	Group(flags, serverGroup, func() {
		Choice(cmd, flags, &p.profile, "profile", "strict expects [DONE] at the end of every answer, generic does not",
			"auto", string(model.Strict), string(model.Generic))
		flags.DurationVar(&p.firstToken, "first-token", 0, "maximum `time` of silence before the first token (default 10m)")
		flags.DurationVar(&p.idle, "idle", 0, "maximum `time` of silence after it (default 5m)")
		flags.Var(&p.maxAnswer, "max-answer", "maximum `bytes` of an answer (default 64MiB)")
		flags.IntVar(&p.retries, "retries", 2, "maximum `number` of retries before the first token")
	})
}

const serverGroup = "Model server"

// AddServerFlags adds the flags that name the server. A project's file cannot give them: whoever wrote the repository in
// the current folder could then choose where prompts and keys go.
func (p *Endpoint) AddServerFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	Group(flags, serverGroup, func() {
		flags.StringVar(&p.BaseURL, "base-url", "", "`URL` of the API (default "+LMStudio+", LM Studio's)")
		flags.StringVar(&p.KeyFile, "key-file", "", "`file` with the server's key; wins over the environment")
		flags.StringVar(&p.Proxy, "proxy", "", "`URL` of a proxy, or none; wins over the environment")
		flags.StringVar(&p.CAFile, "ca-file", "", "PEM `file` of certificates to trust besides the system's")
	})
	for _, name := range []string{"base-url", "key-file", "proxy", "ca-file"} {
		Must(flags.SetAnnotation(name, NotInProject, nil))
	}
	Must(flags.SetAnnotation("base-url", alsoVariables, []string{"LASTWORD_BASE_URL", "OPENAI_BASE_URL"}))
	Must(cmd.MarkFlagFilename("key-file"))
	Must(cmd.MarkFlagFilename("ca-file", "pem", "crt"))
}

// Check says what is wrong with the flags.
func (p *Endpoint) Check() error {
	switch {
	case p.firstToken < 0 || p.idle < 0:
		return Negative("--first-token and --idle")
	case p.retries < 0:
		return Negative("--retries")
	}
	return nil
}

// URL is the server's.
func (p *Endpoint) URL() string { return cmp.Or(p.BaseURL, LMStudio) }

// Host names the server for people.
func (p *Endpoint) Host() string {
	if u, err := url.Parse(p.URL()); err == nil {
		return u.Host
	}
	return ""
}

// Client calls the server; a call takes no longer than timeout, if that is set.
func (p *Endpoint) Client(timeout time.Duration) (*llm.Client, error) {
	config := p.Config()
	config.Limits = llm.Limits{ResponseBytes: int64(p.maxAnswer), FirstToken: p.firstToken, Idle: p.idle, Request: timeout}
	learned, err := p.LearnedProfile()
	if err != nil {
		return nil, &exit.Error{Code: exit.Configuration, Err: err}
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
	client, err := llm.New(config)
	if err != nil {
		return nil, &exit.Error{Code: exit.Configuration, Err: err}
	}
	return client, nil
}

// Config is where the server is and what it takes to be let in.
func (p *Endpoint) Config() llm.Config {
	config := llm.Config{BaseURL: p.URL(), KeyFile: p.KeyFile, Proxy: p.Proxy, CAFile: p.CAFile, Secrets: p.Secrets}
	if p.KeyFile == "" {
		config.Key = p.key()
	}
	return config
}

// LearnedProfile is what provider check has found out of the server, nil where it was not asked.
func (p *Endpoint) LearnedProfile() (*probe.Profile, error) { return probe.Read(p.ProfileFile()) }

// ProfileFile is where that is kept, "" where the user has no folder of configuration.
func (p *Endpoint) ProfileFile() string {
	dir := p.Env.ConfigFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, probe.FileName(p.URL()))
}

// key is the environment's for the server. That of OpenAI goes to none that nobody named.
func (p *Endpoint) key() string {
	if key := p.Env.Get("LASTWORD_API_KEY"); key != "" || p.Guessed || p.BaseURL == "" {
		return key
	}
	return p.Env.Get("OPENAI_API_KEY")
}

// StallTimeout is how long a run may be silent: the client, which knows more of the server, is to lose its patience first.
func (p *Endpoint) StallTimeout() time.Duration {
	return max(cmp.Or(p.firstToken, 10*time.Minute), cmp.Or(p.idle, 5*time.Minute)) + time.Minute
}

// LoadedModel returns a function that names the model that is meant where none is named: the first that the server has
// loaded, or its only one. "" leaves it to a server that does not list its models.
//
// A server that loads none, such as OpenAI's, may have many that are ready: its first is nobody's choice.
func LoadedModel(client *llm.Client) func(ctx context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, list, err := client.Models(ctx)
		if err != nil {
			return "", nil // the call itself will say what is wrong, as far as anything is
		}
		return PickModel(list)
	}
}

func PickModel(list []llm.Info) (string, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(m llm.Info) bool { return strings.HasPrefix(m.Kind, "embedding") })
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
	return "", exit.Invalid("the server has %d models, and none that is the one loaded; name one with --model, such as %s",
		len(list), list[0].ID)
}

// SaysLoaded says whether the model's server tells loaded models from others. Those that only speak OpenAI's protocol list
// every model as ready.
func SaysLoaded(m llm.Info) bool {
	return slices.Contains([]string{llm.LMStudio, llm.LlamaCPP, llm.Ollama, llm.VLLM}, m.Server)
}
