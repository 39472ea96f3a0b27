package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
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
		GroupID:           settings.Working,
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
