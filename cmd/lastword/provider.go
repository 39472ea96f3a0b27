package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

func providerCommand(p *host.Program) *cobra.Command {
	return settings.Parent("provider", settings.Working, providerCheckCommand(p))
}

// providerOptions holds the flags of provider check.
type providerOptions struct {
	at         settings.Endpoint
	model      string
	only       []string
	write      string
	json       bool
	timeout    time.Duration
	firstToken time.Duration
}

func providerCheckCommand(program *host.Program) *cobra.Command {
	p := providerOptions{at: program.Endpoint()}
	cmd := &cobra.Command{
		Use:               "check",
		GroupID:           settings.Working,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.run(cmd, &program.Display) },
	}
	flags := cmd.Flags()
	p.at.AddServerFlags(cmd, flags)
	flags.StringVar(&p.model, "model", "auto", "`name` of the model; auto is the one that the server has loaded")
	flags.StringSliceVar(&p.only, "only", nil, "`names` of checks, separated by commas (default: all)")
	flags.StringVar(&p.write, "write", "", "`file` for the profile; none writes no file")
	flags.BoolVar(&p.json, "json", false, "print the profile and the checks as one JSON document")
	flags.DurationVar(&p.firstToken, "first-token", 0,
		"maximum `time` of silence before a token (default 1m, and 5m before the first)")
	flags.DurationVar(&p.timeout, "timeout", 30*time.Minute, "maximum `time` of all checks")
	settings.ByOperator(flags)
	settings.ByProject(flags, "model")
	settings.Must(cmd.RegisterFlagCompletionFunc("model", program.CompleteModels(&p.at)))
	settings.Must(cmd.MarkFlagFilename("write", "json"))
	settings.Must(cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(checkIDs(),
		cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func checkIDs() (ids []string) {
	for _, c := range probe.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// run makes the checks within a total time. It prints each as it ends, and may save the profile of the server.
func (p *providerOptions) run(cmd *cobra.Command, how *terminal.Options) error {
	if p.timeout <= 0 || p.firstToken < 0 {
		return exit.BadUsage(cmd, errors.New("--timeout must be positive, and --first-token not negative"), "")
	}
	ids := checkIDs()
	for _, id := range p.only {
		if !slices.Contains(ids, id) {
			return exit.BadUsage(cmd, fmt.Errorf("no check is called %q", id), "the checks are "+strings.Join(ids, ", "))
		}
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), p.timeout, tooLong(p.timeout))
	defer cancel()
	t := terminal.NewTable(cmd.OutOrStdout(), how, ids)
	o := probe.Options{Config: p.at.Config(), Model: p.model, Only: p.only, First: p.firstToken, Patience: p.firstToken}
	if !p.json {
		o.Each = p.tell(t)
	}
	learned, err := probe.Run(ctx, o)
	if learned == nil {
		return &exit.Error{Code: exit.Configuration, Err: err}
	}
	learned.Version = build.This().Full()
	if p.json {
		t.Err = terminal.PrintJSON(cmd.OutOrStdout(), learned)
	}
	if err := errors.Join(t.Err, err); err != nil {
		return err
	}
	if err := p.keep(cmd, learned); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d passed, %s, %d failed, %d skipped\n",
		words.Count(len(learned.Results), "check"), learned.Count(probe.Pass),
		words.Count(learned.Count(probe.Warn), "warning"),
		learned.Count(probe.Fail),
		learned.Count(probe.Skip))
	if learned.Count(probe.Fail) > 0 {
		return &exit.Error{Code: exit.Provider}
	}
	return nil
}

// tell returns a function that prints results. If no server answers, it leaves out the skipped checks.
func (p *providerOptions) tell(t *terminal.Table) func(probe.Result) {
	gone := false
	return func(r probe.Result) {
		gone = gone || r.ID == "reachable" && r.Status == probe.Fail
		if !gone || r.Status != probe.Skip {
			t.Row(r)
		}
	}
}

func tooLong(limit time.Duration) error {
	return messages.Errorf(messages.CauseDeadline, "it took longer than %s; --timeout gives it more",
		limit)
}

// keep writes the profile to its file. With --only, or if the server does not answer, it writes only to the file of
// --write.
func (p *providerOptions) keep(cmd *cobra.Command, learned *probe.Profile) error {
	file := p.write
	if file == "" && len(p.only) == 0 && learned.Server.Profile != "" {
		file = p.at.ProfileFile()
	}
	if file == "" || file == "none" {
		return nil
	}
	if err := learned.Write(file); err != nil {
		return fmt.Errorf("cannot write the profile: %w", exit.Reason(err))
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "the profile is %s\n", words.Printable(file))
	return err
}
