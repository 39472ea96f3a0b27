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

// Program is one run of lastword: what it is given, and where it writes. Two programs share nothing but the current
// folder and the signals of their process.
type Program struct {
	Args           []string // without the name of the program
	Env            environment.Variables
	Stdin          io.Reader // empty if nil
	Stdout, Stderr io.Writer
	// Actors configures the runtime. Tests inject faults with it.
	Actors actors.Config
	// Commands returns the tree of commands. They read the fields below when they run.
	Commands func(*Program) *cobra.Command

	Secrets    *redact.Secrets  // no output contains one of them
	Display    terminal.Options // the flags --progress and --no-color
	ConfigFile string           // the flag --config
	Listening  func(url string) // serve tells it where it listens; nil is told nothing

	starts sync.Mutex
	system *actors.System // from its start on
}

// start starts the runtime. Runs that it takes up at once find it by runtime.
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

// ThisProcess is the run that the process was started for. A reader of stdout that has gone away makes writing fail;
// it does not kill the process, so that the run ends in order.
func ThisProcess(commands func(*Program) *cobra.Command) *Program {
	signal.Ignore(syscall.SIGPIPE)
	return &Program{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Commands: commands}
}

// Run runs the program once and returns its exit code. Data goes to Stdout, everything else to Stderr.
func (p *Program) Run(ctx context.Context) int {
	p.Secrets = settings.EnvironmentSecrets(p.Env)
	p.Display.Env = p.Env
	stdout, stderr := p.Secrets.Writer(p.Stdout), p.Secrets.Writer(p.Stderr)
	defer stderr.Close() // nobody is left to hear of an error
	root := p.Commands(p)
	root.SetArgs(append([]string{}, p.Args...)) // cobra takes nil for the arguments of the process
	if root.SetIn(p.Stdin); p.Stdin == nil {
		root.SetIn(strings.NewReader(""))
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	return exit.Report(stderr, errors.Join(err, stdout.Close()))
}

// Asker puts questions to the user. place is what names the runs' server on the command line, such as " --server URL".
func (p *Program) Asker(cmd *cobra.Command, place string) chatui.Asker {
	d := &p.Display
	return chatui.Asker{In: cmd.InOrStdin(), Out: cmd.ErrOrStderr(), Redact: p.Secrets.Text, Env: p.Env, Command: place,
		InPlace: d.InPlace(false) && p.Env.Get("ACCESSIBLE") == "", Colored: d.Colored(true), ASCII: d.ASCIIOnly()}
}

// Endpoint is a server of models as the flags of a command are about to say.
func (p *Program) Endpoint() settings.Endpoint {
	return settings.Endpoint{Env: p.Env, Secrets: p.Secrets}
}

// Source opens repositories as the flags of a command are about to say.
func (p *Program) Source() repository.Source {
	return repository.Source{Env: p.Env, Secrets: p.Secrets}
}

// CompleteModels completes the name of a model on the server that the flags and the settings name.
func (p *Program) CompleteModels(at *settings.Endpoint) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cmd.SetErr(io.Discard) // a note would stand in the command line
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
