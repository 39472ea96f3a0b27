package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"

	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// promptOptions holds the flags of prompt.
type promptOptions struct {
	asker
	input settings.Input
}

func promptCommand(program *host.Program) *cobra.Command {
	p := promptOptions{asker: asker{program: program, at: program.Endpoint(), remote: host.Remote{Program: program}}}
	cmd := &cobra.Command{
		Use:               "prompt <text>",
		Args:              onePrompt,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.run(cmd, args)
		},
	}
	flags := cmd.Flags()
	settings.Group(flags, "Request", func() {
		about := prompt.Define(nil)
		p.input.AddFlags(cmd, flags, about.JobSpec.Input, func(member string) bool { return member != "text" })
		settings.ByOperator(flags)
		settings.ByProject(flags, "model")
		settings.LoweredByProject(flags, "max-tokens")
	})
	p.at.AddFlags(cmd, flags)
	settings.Group(flags, "Run", func() { p.AddFlags(cmd, flags, "30m", program) })
	settings.Group(flags, "Server", func() { p.remote.AddOwnFlags(cmd, flags) })
	settings.Must(cmd.RegisterFlagCompletionFunc("model", program.CompleteModels(&p.at)))
	return cmd
}

// run sends the text as a job of this process or of a server, and shows the answer as it comes.
func (p *promptOptions) run(cmd *cobra.Command, args []string) error {
	if err := p.check(); err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	in, err := jobschema.Read[prompt.Input](p.input.JSON())
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] != "-" {
		in.Text = args[0]
	} else if in.Text, err = textOn(cmd); err != nil {
		return err
	}
	if strings.TrimSpace(in.Text) == "" {
		return exit.BadUsage(cmd, errNoText, promptExample)
	}
	if p.remote.URL != "" {
		return p.runAt(cmd, prompt.Name, in)
	}
	client, err := p.at.Client(p.Timeout)
	if err != nil {
		return err
	}
	defer client.Close()
	job, err := prompt.Job(in, prompt.Config{Stream: client.Stream, Provider: p.at.Host(),
		Choose: settings.LoadedModel(client)})
	if err != nil {
		return err
	}
	return p.watch(cmd, job, nil)
}

const promptExample = `for example: lastword prompt "Why is the sky blue?"`

var errNoText = errors.New("prompt needs a text: give it as an argument, or pipe it to stdin")

// onePrompt wants one text. Without one, stdin must be a pipe.
func onePrompt(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return exit.BadUsage(cmd, fmt.Errorf("prompt takes one text, not %d; put it in quotes", len(args)), promptExample)
	case len(args) == 0 && terminal.IsTerminal(cmd.InOrStdin()):
		return exit.BadUsage(cmd, errNoText, promptExample)
	}
	return nil
}

// asker holds the flags that prompt and chat share.
type asker struct {
	program *host.Program
	at      settings.Endpoint
	remote  host.Remote // the server to run at, if --server is given
	host.Foreground
}

// runAt runs the job at the server of --server, with the server's model, and prints its answer.
func (a *asker) runAt(cmd *cobra.Command, job string, input any) error {
	err := settings.WithoutEffect(cmd, "at a server; leave it out, or leave out --server", func(f *pflag.Flag) bool {
		return f.Name != "state" && settings.GroupOf(f) != "Model server" && settings.GroupOf(f) != "Tools"
	})
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	encoded, err := json.Marshal(input)
	if err != nil {
		return err
	}
	run, err := a.remote.Submit(cmd.Context(), messages.Request{Job: job, Input: encoded, Limits: a.Limits()})
	if err != nil {
		return err
	}
	a.openDisplay(cmd)
	a.Show.Ask = a.program.Asker(cmd, a.remote.Place()).Ask
	return a.remote.WatchOwn(cmd.Context(), run, &a.Show, func(messages.State) error { return nil })
}

// check checks the flags.
func (a *asker) check() error { return errors.Join(a.Check(), a.at.Check()) }

// watch runs the job and prints its answer: as it arrives or, if atEnd is not nil, with atEnd at the end.
func (a *asker) watch(cmd *cobra.Command, job actors.Job, atEnd func(io.Writer, messages.State) error) error {
	a.openDisplay(cmd)
	if atEnd != nil && a.Show.Answer != nil {
		a.Show.Answer.Stdout, a.Show.Print = nil, atEnd
	}
	return a.program.Watch(cmd.Context(), job, a.limits(), &a.State, &a.Show)
}

func (a *asker) openDisplay(cmd *cobra.Command) {
	a.Show.Stdout, a.Show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	a.Show.Open(&a.program.Display)
	a.Show.ShowAnswers(&a.program.Display)
}

// limits returns the run's limits. A model may be silent longer than other work.
func (a *asker) limits() messages.Limits {
	l := a.Limits()
	l.StallMS = host.Milliseconds(a.at.StallTimeout())
	return l
}

// textOn returns stdin without its last line break.
func textOn(cmd *cobra.Command) (string, error) {
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), prompt.MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("cannot read stdin: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}
