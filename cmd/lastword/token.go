package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages/words"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

func tokenCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:     "token",
		GroupID: settings.Helping,
		Short:   "Add and remove the tokens of callers of lastword serve",
		Long: `Token edits the file of tokens that serve reads with --tokens. Each line names a caller, its scopes, and the
digest of its token. The token itself is printed once and stored nowhere. A running server notices a change within
about a second.

The scopes are run:read (watch, list, read files), run:write (start, answer, cancel) and admin (both).`,
		Example: `  lastword token add --file tokens mia
  lastword token list --file tokens`,
		Args: knownCommand,
		RunE: showHelp,
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&file, "file", "", "`file` of tokens; made if missing, readable by you only")
	settings.Must(cmd.MarkPersistentFlagFilename("file"))
	cmd.AddCommand(tokenAddCommand(&file), tokenListCommand(&file), tokenRemoveCommand(&file))
	return cmd
}

func tokenAddCommand(file *string) *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:   "add <name>",
		Short: "Make a token for a caller, and print it",
		Long: `Add makes a token, adds its line to the file, and prints the token to stdout. Nobody can print it again. A
caller may have several tokens.`,
		Example: `  lastword token add --file tokens mia
  lastword token add --file tokens --scope run:read board`,
		Args:              named(file),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return addToken(cmd, *file, args[0], scopes)
		},
	}
	both := []string{string(auth.ReadRuns), string(auth.WriteRuns)}
	cmd.Flags().StringSliceVar(&scopes, "scope", both, "`scopes`, separated by commas")
	return cmd
}

func tokenListCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Print the callers: name, scopes, and the beginning of the digest",
		Example: "  lastword token list --file tokens",
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(noArguments(cmd, args), fileGiven(cmd, *file))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := tokenLines(*file)
			for _, line := range lines {
				if name, scopes, digest, ok := fieldsOf(line); ok && err == nil {
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
		Short:             "Remove all tokens of a caller",
		Example:           "  lastword token remove --file tokens mia",
		Args:              named(file),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := removeTokens(*file, args[0])
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

func addToken(cmd *cobra.Command, file, name string, scopes []string) error {
	token, digest := auth.NewToken()
	line, err := auth.Line(name, scopesOf(scopes), digest)
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	if err := appendLine(file, line); err != nil {
		return &exit.Error{Code: exit.Configuration, Err: err}
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), token); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "added %[2]s to %[1]s; the token is shown only this once\n",
		words.Printable(file), name)
	return err
}

func scopesOf(names []string) []auth.Scope {
	scopes := make([]auth.Scope, len(names))
	for i, name := range names {
		scopes[i] = auth.Scope(name)
	}
	return scopes
}

// appendLine appends the line in a single write, so that two processes can add lines at the same time.
func appendLine(file, line string) error {
	lines, err := tokenLines(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Chmod(0o600) // an empty file may have been readable by others
	}
	if err != nil {
		return fmt.Errorf("cannot write the file of tokens: %w", err)
	}
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		line = "\n" + line
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}

// tokenLines returns the lines of the file. Only its owner may be able to read it.
func tokenLines(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot read the file of tokens: %w", err)}
	}
	if strings.TrimSpace(withoutComments(string(text))) != "" {
		if _, err := auth.LoadTokens(file); err != nil {
			return nil, &exit.Error{Code: exit.Configuration, Err: err}
		}
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
	}
	return lines, nil
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// fieldsOf returns the fields of a line with a token.
func fieldsOf(line string) (name, scopes, digest string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 || strings.HasPrefix(fields[0], "#") {
		return "", "", "", false
	}
	return fields[0], fields[1], fields[2], true
}

// removeTokens rewrites the file without the caller's lines.
func removeTokens(file, name string) (removed int, err error) {
	lines, err := tokenLines(file)
	if err != nil {
		return 0, err
	}
	var kept strings.Builder
	for _, line := range lines {
		if who, _, _, ok := fieldsOf(line); ok && who == name {
			removed++
			continue
		}
		kept.WriteString(line)
	}
	if removed == 0 {
		return 0, fmt.Errorf("%s has no token in %s", words.Printable(name), words.Printable(file))
	}
	return removed, replaceFile(file, kept.String())
}

// replaceFile replaces the file atomically. Only its owner can read the new one.
func replaceFile(file, text string) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	folder, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer folder.Close()
	name := filepath.Base(file)
	old, err := folder.Stat(name)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteText(folder, name, 0o600, text); err != nil {
		return err
	}
	return keepOwner(folder, name, old)
}
