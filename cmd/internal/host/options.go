package host

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/command"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/webhook"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/supervision/fault"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Options holds the flags that mcp and serve share. It does not change after Start, except for fields with their own
// locks.
type Options struct {
	Out      string   // all runs write below this folder
	Dialects []string // names of dialects; only over HTTP
	// NanoListen is the address of NANO's own listener, or "".
	NanoListen string
	HTTP       bool   // serve the HTTP API, with metrics and traces
	Secure     bool   // browsers reach the server over https
	PublicURL  string // of the page, if a proxy is in front of the server
	// Terminal is the secret of commands at a terminal; RunTokens are tokens of programs inside runs. address is the
	// server's URL on this machine, a string, once it listens.
	Terminal      string
	RunTokens     auth.RunTokens
	address       atomic.Value
	agentsConfirm bool
	ShownOut      string // Out as callers see it; "" if they may be on another machine
	Read          repository.Source
	finder        ModelFinder
	model         string
	tools         []string // optional sets of tools
	noCache       bool
	jobsFile      string // file of commands
	file          *command.File
	hooksFile     string
	hooks         []webhook.Target
	// callbackHosts are the hosts that callers may name in callback URLs.
	callbackHosts []string
	timeout       time.Duration
	Drain         time.Duration
	retention     time.Duration
	// retentionSize limits the size of the events of all ended runs; 0 means the runtime's limit.
	retentionSize settings.ByteSize
	maxRuns       int
	MaxRunsEach   int // maximum number of runs per principal
	MaxOutEach    settings.ByteSize
	TokensPerDay  int64 // model tokens per principal; 0 means no limit
	verbose       bool
	faultsFile    string
	enableFaults  bool         // over HTTP
	faults        *fault.Board // set by Check; nil without faults
	Secrets       *redact.Secrets
	Store         store.Flags
	program       *Program
	quota         quota
	spending      *spending // set by Start; nil without a limit
	talks         conversations
	names         modelNames
	kept          *store.Store // set by Start
	mcpServers    toolbox.Flags
	box           *toolbox.Box // set by Start
}

// Env returns the environment of the program.
func (h *Options) Env() environment.Variables { return h.finder.Endpoint.Env }

// AddFlags adds the flags.
func (h *Options) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet, p *Program) {
	h.program, h.Secrets = p, p.Secrets
	h.finder.Endpoint, h.Read = p.Endpoint(), p.Source()
	settings.Group(flags, "Runs", func() {
		flags.StringVar(&h.Out, "out", "artifacts", "`folder` that runs write under; made at the first run")
		flags.IntVar(&h.maxRuns, "max-runs", 1000, "maximum `number` of runs at the same time")
		flags.DurationVar(&h.timeout, "timeout", 0, "maximum `time` of a run, such as 90s; without it callers may ask for up to 24h (default 30m)")
		flags.DurationVar(&h.Drain, "drain", 30*time.Second, "maximum `time` to wait for runs when it stops")
		flags.DurationVar(&h.retention, "retention", 24*time.Hour, "`time` to keep the events of an ended run")
		flags.Var(&h.retentionSize, "retention-size", "maximum `bytes` of the events of ended runs (default 1GiB)")
		flags.StringVar(&h.jobsFile, "jobs", "", "YAML `file` that defines commands as jobs, and schedules")
		flags.BoolVar(&h.agentsConfirm, "agents-may-confirm", false, "let agents answer what runs ask a person to confirm")
		flags.BoolVar(&h.noCache, "no-cache", false, "neither read nor write the cache of results")
		flags.BoolVar(&h.verbose, "verbose", false, "log more to stderr")
		flags.StringSliceVar(&h.tools, "tools", nil, "more `sets` of tools to offer: "+lmstxtTools+", "+planTools)
	})
	settings.Group(flags, "Model", func() {
		flags.StringVar(&h.model, "model", "",
			"`name` of the model for prompts and chats that name none, and for generate with auto; auto is one that is loaded on this machine")
	})
	h.finder.Endpoint.AddFlags(cmd, flags)
	settings.Group(flags, "Model", func() { h.mcpServers.AddServerFlag(cmd, flags) })
	settings.Group(flags, "Repository", func() { h.Read.AddLimitFlags(flags) })
	settings.Must(cmd.MarkFlagDirname("out"))
	settings.Must(cmd.MarkFlagFilename("jobs", "yaml", "yml"))
	settings.Must(cmd.RegisterFlagCompletionFunc("tools",
		cobra.FixedCompletions([]string{lmstxtTools, planTools}, cobra.ShellCompDirectiveNoFileComp)))
	settings.Must(cmd.RegisterFlagCompletionFunc("model", p.CompleteModels(&h.finder.Endpoint)))
}

// lmstxtTools is the set of tools of an earlier server, lmstxt-mcp.
const lmstxtTools = "lmstxt"

// Check checks the flags, and derives other fields from them.
func (h *Options) Check(cmd *cobra.Command) error {
	var err error
	switch {
	case h.Out == "":
		err = errors.New("--out needs the name of a folder")
	case h.timeout < 0 || h.Drain < 0 || h.retention <= 0:
		err = errors.New("--timeout and --drain must not be negative, and --retention positive")
	case slices.ContainsFunc(h.tools, func(set string) bool { return set != lmstxtTools && set != planTools }):
		err = errors.New("--tools takes " + lmstxtTools + " and " + planTools)
	case h.maxRuns <= 0:
		err = errors.New("--max-runs must be positive")
	default:
		err = errors.Join(h.Store.Check(), h.Read.Check(), h.finder.Endpoint.Check(), h.checkDialects())
	}
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	if err := cmp.Or(h.readJobs(), h.readHooks(), h.readFaults()); err != nil {
		return err
	}
	h.Out = settings.Absolute(h.Out)
	h.quota.out, h.quota.limit = h.Out, int64(h.MaxOutEach)
	return h.finder.Check(cmp.Or(h.model, generate.AutoModel))
}

// systemConfig returns the configuration of the runtime.
func (h *Options) systemConfig() actors.Config {
	config := h.program.Actors
	config.Jobs, config.Faults = h.jobs(), h.faults
	config.WallClock, config.Retention, config.RetentionBytes = h.timeout, h.retention, int64(h.retentionSize)
	config.MaxRuns, config.MaxRunsPerPrincipal = h.maxRuns, h.MaxRunsEach
	if h.TokensPerDay > 0 {
		h.spending = &spending{limit: h.TokensPerDay}
		config.Admit = h.spending.admit
	}
	config.Drain = max(h.Drain, time.Nanosecond)
	config.Ceilings = actors.Ceilings{WallClock: cmp.Or(h.timeout, day), Stall: day, Answer: cmp.Or(config.Ceilings.Answer, 7*day), Bytes: 1 << 30}
	return config
}
