package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/tokenfile"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

func tokenCommand(p *host.Program) *cobra.Command {
	var file string
	cmd := settings.Parent("token", settings.Helping, tokenAddCommand(p, &file), tokenListCommand(&file), tokenRemoveCommand(&file))
	flags := cmd.PersistentFlags()
	flags.StringVar(&file, "file", "", "`file` of tokens; made if missing, readable by you only")
	settings.Must(cmd.MarkPersistentFlagFilename("file"))
	return cmd
}

func tokenAddCommand(p *host.Program, file *string) *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:               "add <name>",
		Args:              named(file),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return addToken(cmd, p.Stdout, *file, args[0], scopes)
		},
	}
	both := []string{string(auth.ReadRuns), string(auth.WriteRuns)}
	cmd.Flags().StringSliceVar(&scopes, "scope", both, "`scopes`, separated by commas")
	return cmd
}

func tokenListCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use: "list",
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(noArguments(cmd, args), fileGiven(cmd, *file))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := tokenfile.Lines(*file)
			for _, line := range lines {
				if name, scopes, digest, ok := tokenfile.Fields(line); ok && err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%-24s  %-24s  %.12s\n", name, scopes, digest)
				}
			}
			return err
		},
	}
}

func tokenRemoveCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use:               "remove <name>",
		Args:              named(file),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := tokenfile.Remove(*file, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s removed\n", words.Count(n, "token"),
				words.Printable(args[0]))
			return err
		},
	}
}

// named requires one argument, the name of a caller, and --file.
func named(file *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return exit.BadUsage(cmd, fmt.Errorf("%s needs the name of one caller", cmd.Name()), "")
		}
		return fileGiven(cmd, *file)
	}
}

func fileGiven(cmd *cobra.Command, file string) error {
	if file == "" {
		return exit.BadUsage(cmd, errors.New("give --file FILE, the file of tokens"), "")
	}
	return nil
}

// addToken adds a line to the file before it prints the token, so that every printed token works. stdout is the one that
// removes no secrets.
func addToken(cmd *cobra.Command, stdout io.Writer, file, name string, scopes []string) error {
	token, digest := auth.NewToken()
	asked := make([]auth.Scope, len(scopes))
	for i, scope := range scopes {
		asked[i] = auth.Scope(scope)
	}
	line, err := auth.Line(name, asked, digest)
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	if err := tokenfile.Append(file, line); err != nil {
		return &exit.Error{Code: exit.Configuration, Err: err}
	}
	if _, err := fmt.Fprintln(stdout, token); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "added %[2]s to %[1]s; the token is shown only this once\n",
		words.Printable(file), name)
	return err
}
