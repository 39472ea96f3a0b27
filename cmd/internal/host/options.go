package host

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/webhook"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// Flags holds the flags that mcp and serve share, as the user gives them.
type Flags struct {
	Out           string   // all runs write below this folder
	Dialects      []string // names of other systems whose clients to serve
	NanoListen    string   // address of NANO's own listener, or ""
	Read          repository.Source
	Drain         time.Duration
	MaxRunsEach   int // maximum number of runs per principal
	MaxOutEach    settings.ByteSize
	TokensPerDay  int64           // model tokens per principal; 0 means no limit
	budget        settings.Budget // of each run with its sub-runs
	prices        func(model string) (actors.Price, bool)
	Store         store.Flags
	endpoint      settings.Endpoint
	model         string
	mcpServers    toolbox.Flags
	tools         []string // optional sets of tools
	noCache       bool
	jobsFile      string // defines commands
	hooksFile     string
	faultsFile    string
	enableFaults  bool     // over HTTP
	callbackHosts []string // hosts that callers may name in callback URLs
	SessionKey    string   // file with the keys that seal what clients keep
	agentsConfirm bool
	timeout       time.Duration
	maxRuns       int
	retention     time.Duration
	// retentionSize limits the size of the events of all ended runs; 0 means the runtime's limit.
	retentionSize settings.ByteSize
	verbose       bool
	program       *Program
	wrap          []string      // servers whose tools to offer
	wait          time.Duration // for the result of a wrapped call
}

// Web says how callers reach a server over HTTP.
type Web struct {
	PublicURL  string // of the page, if a proxy is in front of the server
	Secure     bool   // browsers reach the server over https
	RemoteOnly bool   // callers must not name folders or archives of this machine
}

// Checked holds flags that Check has accepted, and what the files that they name say.
type Checked struct {
	Flags
	web       *Web     // nil for a server of stdin and stdout
	protocols []string // names of dialects
	file      *command.File
	hooks     []webhook.Target
	sealing   seal.Keys    // of SessionKey; nil without it
	faults    *fault.Board // nil without faults
	behind    []source.Server
}

// Env returns the environment of the program.
func (f *Flags) Env() environment.Variables { return f.endpoint.Env }

// folder returns the folder of the journal, or "" if it has none.
func (f *Flags) folder() string { return f.Store.Folder(f.Env()) }

// localSessions reports whether sessions hold at this node of several alone.
func (f *Flags) localSessions() bool { return f.Store.Shared() && f.SessionKey == "" }

// AddFlags adds the flags.
func (f *Flags) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet, p *Program) {
	f.program, f.endpoint, f.Read = p, p.Endpoint(), p.Source()
	settings.Group(flags, "Runs", func() {
		flags.StringVar(&f.Out, "out", "artifacts", "`folder` that runs write under; made at the first run")
		flags.IntVar(&f.maxRuns, "max-runs", 1000, "maximum `number` of runs at the same time")
		flags.DurationVar(&f.timeout, "timeout", 0, "maximum `time` of a run, such as 90s; without it callers may ask for up to 24h (default 30m)")
		flags.DurationVar(&f.Drain, "drain", 30*time.Second, "maximum `time` to wait for runs when it stops")
		flags.DurationVar(&f.retention, "retention", 24*time.Hour, "`time` to keep the events of an ended run")
		flags.Var(&f.retentionSize, "retention-size", "maximum `bytes` of the events of ended runs (default 1GiB)")
		flags.StringVar(&f.jobsFile, "jobs", "", "YAML `file` that defines commands as jobs, and schedules")
		flags.Var(&f.budget, "budget", "what a run may spend, with its sub-runs: `units` such as tokens=50000,cost=2.50USD,time=10m; callers may ask for less")
		p.addPrices(flags)
		flags.BoolVar(&f.agentsConfirm, "agents-may-confirm", false, "let agents answer what runs ask a person to confirm")
		flags.BoolVar(&f.noCache, "no-cache", false, "neither read nor write the cache of results")
		flags.BoolVar(&f.verbose, "verbose", false, "log more to stderr")
		flags.StringSliceVar(&f.tools, "tools", nil, "more `sets` of tools to offer: "+lmstxtTools+", "+planTools)
	})
	settings.Group(flags, "Model", func() {
		flags.StringVar(&f.model, "model", "",
			"`name` of the model for prompts and chats that name none, and for generate with auto; auto is one that is loaded on this machine")
	})
	f.endpoint.AddFlags(cmd, flags)
	settings.Group(flags, "Model", func() { f.mcpServers.AddServerFlag(flags) })
	settings.Group(flags, "Repository", func() { f.Read.AddLimitFlags(flags) })
	f.addWrap(cmd.PersistentFlags())
	settings.Must(cmd.RegisterFlagCompletionFunc("tools",
		cobra.FixedCompletions([]string{lmstxtTools, planTools}, cobra.ShellCompDirectiveNoFileComp)))
	settings.Must(cmd.RegisterFlagCompletionFunc("model", p.CompleteModels(&f.endpoint)))
}

// addWrap adds the flags of wrapped servers. The subcommands of mcp have them, too.
func (f *Flags) addWrap(flags *pflag.FlagSet) {
	settings.Group(flags, "Wrapped servers", func() {
		flags.StringArrayVar(&f.wrap, "wrap", nil, "other MCP `server` whose tools to offer as runs: NAME='COMMAND ARG …', NAME=URL or a file "+
			"with mcpServers; can be repeated")
		flags.DurationVar(&f.wait, "wait", 50*time.Second, "`time` that a call of a wrapped tool waits for its result; then it names the run")
	})
	settings.ByOperator(flags, "wrap", "wait")
}

// readWrapped reads the servers of --wrap.
func (c *Checked) readWrapped() (err error) {
	c.behind, err = toolbox.Wrapped(c.wrap, c.Env(), c.program.Secrets, c.program.Guarded)
	return exit.Misconfigured(err)
}

// lmstxtTools is the set of tools of an earlier server, lmstxt-mcp.
const lmstxtTools = "lmstxt"

// Check checks the flags and reads the files that they name. web is nil for a server of stdin and stdout.
func (f *Flags) Check(cmd *cobra.Command, web *Web) (*Checked, error) {
	protocols, err := f.readDialects()
	switch {
	case f.Out == "":
		err = errors.New("--out needs the name of a folder")
	case f.timeout < 0 || f.Drain < 0 || f.retention <= 0:
		err = errors.New("--timeout and --drain must not be negative, and --retention positive")
	case slices.ContainsFunc(f.tools, func(set string) bool { return set != lmstxtTools && set != planTools }):
		err = errors.New("--tools takes " + lmstxtTools + " and " + planTools)
	case f.wait <= 0:
		err = errors.New("--wait must be positive")
	case f.maxRuns <= 0:
		err = errors.New("--max-runs must be positive")
	default:
		err = errors.Join(f.Store.Check(), f.Read.Check(), f.endpoint.Check(), err)
	}
	if err != nil {
		return nil, exit.BadUsage(cmd, err, "")
	}
	c := &Checked{Flags: *f, web: web, protocols: protocols}
	c.Out = settings.Absolute(f.Out)
	if web != nil {
		c.Read.RemoteOnly, c.MaxOutEach = web.RemoteOnly, cmp.Or(f.MaxOutEach, 1<<30)
	}
	if c.file, err = f.readJobs(); err == nil {
		c.hooks, err = c.readHooks()
	}
	if err == nil {
		c.faults, err = f.readFaults()
	}
	if err == nil {
		c.prices, err = f.program.readPrices()
	}
	if err == nil {
		err = c.readWrapped()
	}
	if len(c.behind) > 0 && web == nil {
		c.Store.KeepApart(c.Env(), messages.Digest(strings.Join(c.wrap, "\x00"))[:16])
	}
	if err == nil && f.SessionKey != "" {
		c.sealing, err = readSealing(f.SessionKey, f.program.Secrets)
	}
	if err != nil {
		return nil, err
	}
	return c, (&ModelFinder{Endpoint: f.endpoint}).Check(cmp.Or(f.model, generate.AutoModel))
}

// openTools opens the tools of MCP servers.
func (f *Flags) openTools() (*toolbox.Box, error) {
	return f.mcpServers.Open(f.Env(), f.program.Secrets, build.This().Full(), f.program.Guarded)
}
