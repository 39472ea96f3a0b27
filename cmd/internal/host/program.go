package host

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/chatui"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages/redact"
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
	// Commands returns the command tree. Commands read the fields below when they run.
	Commands func(*Program) *cobra.Command

	Secrets    *redact.Secrets  // removed from all output
	Display    terminal.Options // flags --progress and --no-color
	ConfigFile string           // flag --config
	Listening  func(url string) // serve calls it with its URL; may be nil

	// starts guards system.
	starts sync.Mutex
	system *actors.System // set when the runtime has started
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
	p.Secrets = settings.EnvironmentSecrets(p.Env)
	p.Display.Env = p.Env
	stdout, stderr := p.Secrets.Writer(p.Stdout), p.Secrets.Writer(p.Stderr)
	defer stderr.Close() // nobody would see the error
	root := p.Commands(p)
	root.SetArgs(append([]string{}, p.Args...)) // for nil, cobra would take the arguments of the process
	if root.SetIn(p.Stdin); p.Stdin == nil {
		root.SetIn(strings.NewReader(""))
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	return exit.Report(stderr, errors.Join(err, stdout.Close()))
}

// Asker returns the Asker that puts questions to the user. place contains the flags that name the runs' server, for
// example " --server URL".
func (p *Program) Asker(cmd *cobra.Command, place string) chatui.Asker {
	d := &p.Display
	return chatui.Asker{In: cmd.InOrStdin(), Out: cmd.ErrOrStderr(), Redact: p.Secrets.Text, Env: p.Env, Command: place,
		InPlace: d.InPlace(false) && p.Env.Get("ACCESSIBLE") == "", Colored: d.Colored(true), ASCII: d.ASCIIOnly()}
}

// Endpoint returns a model server, for flags to fill in.
func (p *Program) Endpoint() settings.Endpoint {
	return settings.Endpoint{Env: p.Env, Secrets: p.Secrets}
}

// Source returns a Source of repositories, for flags to fill in.
func (p *Program) Source() repository.Source {
	return repository.Source{Env: p.Env, Secrets: p.Secrets}
}

// CompleteModels completes names of models on the server that flags and settings name.
func (p *Program) CompleteModels(at *settings.Endpoint) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cmd.SetErr(io.Discard) // output would disturb the command line
		if settings.Configure(cmd, args, p.Env, p.ConfigFile, p.Secrets) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, err := at.Client(listTimeout)
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
