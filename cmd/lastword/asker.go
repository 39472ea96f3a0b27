package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// asker holds what prompt and chat share: the server, the run and how it is shown.
type asker struct {
	program *host.Program
	at      settings.Endpoint
	remote  host.Remote // the server to run at, if one is named
	timeout time.Duration
	state   store.Flags
	show    terminal.Display
}

func (a *asker) addRunFlags(cmd *cobra.Command, flags *pflag.FlagSet, standard string) {
	flags.BoolVar(&a.show.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object per line")
	flags.BoolVar(&a.show.JSON, "json", false, "print the result to stdout as one JSON object")
	flags.BoolVarP(&a.show.Quiet, "quiet", "q", false, "print nothing to stderr but errors")
	flags.DurationVar(&a.timeout, "timeout", 0, "maximum `time` of the run, such as 90s (default "+standard+")")
	a.state.AddState(cmd, flags)
}

// runAt runs the job at the server of --server, with the server's model, and prints its answer.
func (a *asker) runAt(cmd *cobra.Command, job string, input any) error {
	err := settings.WithoutEffect(cmd, "at a server; leave it out, or leave out --server", func(f *pflag.Flag) bool {
		return f.Name != "state" && settings.GroupOf(f) != "Model server" && settings.GroupOf(f) != "Tools"
	})
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	said, err := json.Marshal(input)
	if err != nil {
		return err
	}
	run, err := a.remote.Submit(cmd.Context(), messages.Request{Job: job, Input: said,
		Limits: messages.Limits{WallClockMS: host.Milliseconds(a.timeout)}})
	if err != nil {
		return err
	}
	a.openDisplay(cmd)
	a.show.Ask = a.program.Asker(cmd, a.remote.Place()).Ask
	return host.WatchOwn(cmd.Context(), run, &a.show, func(messages.State) error { return nil })
}

// check returns what is wrong with the flags.
func (a *asker) check() error {
	switch {
	case a.timeout < 0:
		return settings.Negative("--timeout")
	case a.show.JSON && a.show.JSONL:
		return errors.New("--json and --jsonl exclude each other: each has stdout for itself")
	}
	return a.at.Check()
}

// watch runs the job and prints its answer: as it comes or, if atEnd is not nil, by atEnd.
func (a *asker) watch(cmd *cobra.Command, job actors.Job, atEnd func(io.Writer, messages.State) error) error {
	a.openDisplay(cmd)
	if atEnd != nil && a.show.Answer != nil {
		a.show.Answer, a.show.Print = nil, atEnd
	}
	return a.program.Watch(cmd.Context(), job, a.limits(), &a.state, &a.show)
}

func (a *asker) openDisplay(cmd *cobra.Command) {
	a.show.Stdout, a.show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	a.show.Open(&a.program.Display)
	showAnswers(&a.show, &a.program.Display)
}

func (a *asker) limits() messages.Limits {
	return messages.Limits{WallClockMS: host.Milliseconds(a.timeout), StallMS: host.Milliseconds(a.at.StallTimeout())}
}

// showAnswers arranges that answers are printed. On a terminal the view shows the model's thoughts: a block that is redrawn,
// or a line per milestone, would stand in the middle of an answer. If stdout is piped and nobody asks for progress,
// stderr stays empty unless something goes wrong.
func showAnswers(d *terminal.Display, o *terminal.Options) {
	piped := !terminal.IsTerminal(d.Stdout)
	if piped && o.Progress == "auto" {
		d.View, d.Brief = terminal.Silent{}, true
	}
	if d.JSON || d.JSONL {
		return
	}
	d.Answer = &terminal.Answer{Stdout: d.Stdout, Stderr: d.Stderr, Style: d.Style, Shared: !piped}
	if d.Quiet || d.Brief || !terminal.IsTerminal(d.Stderr) || o.Progress == "plain" || o.Progress == "none" {
		return
	}
	if d.View = d.Answer; o.InPlace(false) {
		d.Answer.Columns = terminal.Columns(d.Stderr)
	}
}

// textOn is stdin without its last line break.
func textOn(cmd *cobra.Command) (string, error) {
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), prompt.MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("cannot read stdin: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}
