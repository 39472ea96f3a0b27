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
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages"
)

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
	return host.WatchOwn(cmd.Context(), run, &a.Show, func(messages.State) error { return nil })
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
