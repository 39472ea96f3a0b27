package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/chatui"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/guardian"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// Program is one invocation of lastword, with its arguments, environment and standard streams. Two Programs in one
// process share only the working directory and signals.
type Program struct {
	Args           []string // without the program's name
	Env            environment.Variables
	Stdin          io.Reader // nil means empty
	Stdout, Stderr io.Writer
	// Actors configures the runtime. Tests use it to inject faults.
	Actors actors.Config
	prices string // file with the prices of models, or ""
	// Commands returns the command tree. Commands read the fields below when they run.
	Commands func(*Program) *cobra.Command

	Secrets    *redact.Secrets  // removed from all output
	Display    terminal.Options // flags --progress and --no-color
	ConfigFile string           // flag --config
	Listening  func(url string) // serve calls it with its URL; may be nil
	Serves     *store.Flags     // where serve stores its journal

	// starts guards system.
	starts sync.Mutex
	system *actors.System // set when the runtime has started

	guards   sync.Mutex         // guards guardian
	guardian *guardian.Guardian // starts programs; nil without any
}

// Guardian returns the guardian of all programs that this process starts, and starts it at the first call, as
// [guardian.New] says. It is nil where the system has none.
func (p *Program) Guardian(ctx context.Context, folder string, waits func()) (g *guardian.Guardian, err error) {
	p.guards.Lock()
	defer p.guards.Unlock()
	if p.guardian == nil {
		p.guardian, err = guardian.New(ctx, folder, waits)
	}
	return p.guardian, err
}

// Guarded starts an MCP server so that all that it starts ends with this process, however it ends.
func (p *Program) Guarded(cmd *exec.Cmd) (source.Process, error) {
	g, err := p.Guardian(context.Background(), "", nil)
	if g == nil {
		return nil, err
	}
	started, err := g.Start(cmd, guardian.Options{})
	if err != nil {
		return nil, err
	}
	return started, nil
}

// start starts the runtime. Runs that the runtime resumes at once wait in runtime until it is known.
func (p *Program) start(ctx context.Context, config actors.Config) (system *actors.System, err error) {
	p.starts.Lock()
	defer p.starts.Unlock()
	p.system, err = actors.New(ctx, config)
	return p.system, err
}

func (p *Program) runtime() *actors.System {
	p.starts.Lock()
	defer p.starts.Unlock()
	return p.system
}

// ThisProcess returns the Program for this process. It ignores SIGPIPE, so that a closed stdout makes writes fail
// instead of killing the process: the run then ends in order.
func ThisProcess(commands func(*Program) *cobra.Command) *Program {
	signal.Ignore(syscall.SIGPIPE)
	terminal.EnableEscapes(os.Stdout, os.Stderr)
	return &Program{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Commands: commands}
}

// Run executes the program and returns its exit code. Data goes to Stdout, everything else to Stderr.
func (p *Program) Run(ctx context.Context) int {
	p.Secrets = settings.Secrets(p.Env, p.Args)
	p.Display.Env = p.Env
	defer func() { p.guardian.Close() }()
	out := terminal.NewPatient(p.Stdout)
	stdout, stderr := p.Secrets.Writer(out), p.Secrets.Writer(terminal.NewPatient(p.Stderr))
	defer stderr.Close() // nobody would see the error
	root := p.Commands(p)
	root.SetArgs(append([]string{}, p.Args...)) // for nil, cobra would take the arguments of the process
	if root.SetIn(p.Stdin); p.Stdin == nil {
		root.SetIn(strings.NewReader(""))
	}
	shownOut, shownErr := terminal.Gates(stdout, stderr, p.Display.ASCIIOnly())
	root.SetOut(shownOut)
	root.SetErr(shownErr)
	err := root.ExecuteContext(ctx)
	return exit.Report(shownErr, cmp.Or(err, out.Report(stderr, stdout.Close())))
}

// Trust returns the user's folder of trust, and makes it if it is missing.
func (p *Program) Trust() (trust.Folder, error) {
	f, err := trust.Open(p.Env)
	return f, exit.Misconfigured(err)
}

// Approvals returns one of the user's lists, such as [trust.Folder.Approvals], or nil if there is no place for one.
func (p *Program) Approvals(of func(trust.Folder) *tool.Approvals) (*tool.Approvals, error) {
	f, err := p.Trust()
	if errors.Is(err, trust.ErrNowhere) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return of(f), nil
}

// Asker returns the Asker that puts questions to the user. place contains the flags that name the runs' server, for
// example " --server URL".
func (p *Program) Asker(cmd *cobra.Command, place string) chatui.Asker {
	d := &p.Display
	return chatui.Asker{In: cmd.InOrStdin(), Out: cmd.ErrOrStderr(), Redact: p.Secrets.Text, Env: p.Env, Command: place,
		InPlace: d.InPlace(cmd.ErrOrStderr(), false) && p.Env.Get("ACCESSIBLE") == "", Colored: d.Colored(true), ASCII: d.ASCIIOnly()}
}

// Endpoint returns a model server, for flags to fill in.
func (p *Program) Endpoint() settings.Endpoint {
	return settings.Endpoint{Env: p.Env, Secrets: p.Secrets}
}

// Source returns a Source of repositories, for flags to fill in.
func (p *Program) Source() repository.Source { return repository.For(p.Env, p.Secrets) }

// CompleteModels completes names of models on the server that flags and settings name.
func (p *Program) CompleteModels(endpoint *settings.Endpoint) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cmd.SetErr(io.Discard) // output would disturb the command line
		if settings.Configure(cmd, args, p.Env, p.ConfigFile, p.Secrets) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, err := endpoint.Client(listTimeout)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), listTimeout)
		defer cancel()
		_, list, _ := client.Models(ctx)
		names := []string{}
		for _, m := range list {
			names = append(names, terminal.Flat(m.ID))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// Foreground holds the flags of commands that wait for a run: how the run is shown, how long it may take, and where its
// events are stored.
type Foreground struct {
	Show    terminal.Display
	Timeout time.Duration
	State   store.Flags
	budget  settings.Budget
	ask     string
}

// AddFlags adds the flags. standard describes the default of --timeout.
func (f *Foreground) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet, standard string, p *Program) {
	flags.BoolVar(&f.Show.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object per line")
	flags.BoolVar(&f.Show.JSON, "json", false, "print the result to stdout as one JSON object")
	flags.BoolVarP(&f.Show.Quiet, "quiet", "q", false, "print nothing to stderr but errors")
	flags.DurationVar(&f.Timeout, "timeout", 0, "maximum `time` of the run, such as 90s (default "+standard+")")
	flags.Var(&f.budget, "budget", "what the run may spend, with its sub-runs: `units` such as tokens=50000,cost=2.50USD,time=10m")
	settings.Choice(cmd, flags, &f.ask, "on-budget", "what follows when the budget is used up", string(messages.BudgetEnd), string(messages.BudgetAsk))
	p.addPrices(flags)
	settings.ByOperator(flags, "jsonl", "json", "quiet", "on-budget")
	settings.LoweredByProject(flags, "timeout", "budget")
	f.State.AddState(flags)
}

// Check checks the flags.
func (f *Foreground) Check() error {
	switch {
	case f.Timeout < 0:
		return settings.Negative("--timeout")
	case f.Show.JSON && f.Show.JSONL:
		return errors.New("--json and --jsonl exclude each other: each has stdout for itself")
	}
	return nil
}

// Limits returns the limits of the run.
func (f *Foreground) Limits() messages.Limits {
	l := messages.Limits{WallClockMS: Milliseconds(f.Timeout), Budget: f.budget.Budget}
	if f.ask == string(messages.BudgetAsk) {
		l.OnBudget = messages.BudgetAsk
	}
	return l
}
