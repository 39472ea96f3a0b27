package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// runAt runs the job at the server and downloads its files.
func (g *generateOptions) runAt(cmd *cobra.Command, repository string) error {
	if err := g.validateRemote(cmd); err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	q, err := g.request(repository)
	if err != nil {
		return err
	}
	run, err := g.at.Submit(cmd.Context(), q)
	if err != nil {
		return err
	}
	g.Show.Stdout, g.Show.Stderr, g.Show.Folder = cmd.OutOrStdout(), cmd.ErrOrStderr(), g.out
	if g.explain {
		g.Show.Print = explained(g.out)
	}
	g.Show.Open(&g.program.Display)
	return g.at.WatchOwn(cmd.Context(), run, &g.Show, func(s messages.State) error {
		return download(cmd.Context(), run.Client, s, g.out)
	})
}

// validateRemote refuses flags on the command line that have no effect at a server, whose operator sets these.
func (g *generateOptions) validateRemote(cmd *cobra.Command) (err error) {
	err = settings.WithoutEffect(cmd, "at a server; leave it out, or leave out --server", func(f *pflag.Flag) bool {
		switch settings.GroupOf(f) {
		case "Files":
			return f.Name != "in-place" && f.Name != "output" && f.Name != "dry-run"
		case "Run", "Server", commonFlags:
			return true
		}
		return f.Name == "model" || f.Name == "require-model"
	})
	return errors.Join(err, g.validate())
}

// request returns the request to the server.
func (g *generateOptions) request(repository string) (messages.Request, error) {
	address, err := source.Locate(repository, false) // a local folder must mean the same folder at the server
	if err != nil {
		return messages.Request{}, err
	}
	g.input.Say("repository", address.String())
	return messages.Request{Job: generate.Name, Input: g.input.JSON(), Limits: g.Limits()}, nil
}
