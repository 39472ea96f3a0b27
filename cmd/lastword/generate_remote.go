package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
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
	return host.WatchOwn(cmd.Context(), run, &g.Show, func(s messages.State) error {
		return download(cmd.Context(), run.Client, s, g.out)
	})
}

// validateRemote refuses flags on the command line that have no effect at a server, whose operator sets these.
func (g *generateOptions) validateRemote(cmd *cobra.Command) (err error) {
	err = settings.WithoutEffect(cmd, "at a server; leave it out, or leave out --server", func(f *pflag.Flag) bool {
		switch settings.GroupOf(f) {
		case "Files":
			return f.Name != "in-place" && f.Name != "output"
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

// download writes the run's files below the folder, as generate does on this machine. Each file is written atomically.
func download(ctx context.Context, c *api.Client, s messages.State, folder string) error {
	if len(s.Artifacts) == 0 {
		return nil
	}
	root, err := confined.MakeRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, a := range s.Artifacts {
		if a.Partial {
			continue
		}
		if err := downloadFile(ctx, c, s.RunID, a, root); err != nil {
			return fmt.Errorf("cannot download %s: %w", a.Name, err)
		}
	}
	return nil
}

// downloadFile downloads one file, and checks that it is the one in the run's log.
func downloadFile(ctx context.Context, c *api.Client, id messages.RunID, a messages.Artifact, root *os.Root) error {
	from, err := c.Artifact(ctx, id, a.Name)
	if err != nil {
		return err
	}
	defer from.Close()
	to := cmp.Or(a.Path, a.Name)
	return confined.Write(root, to, 0o644, func(file io.Writer) error {
		sum := sha256.New()
		_, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(from, a.Bytes+1))
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != a.SHA256 {
			err = messages.Errorf(messages.CauseTransportClosed, "the server sent another file than the run wrote")
		}
		return err
	})
}
