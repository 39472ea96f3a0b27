package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/transport/fetch"
)

// checking is what check is asked for, and what it found.
type checking struct {
	repository string // "" where the file's own folder will do
	stale      bool
	json       bool
	allow      fetch.Allow
	checkouts  checkouts
	report     checkReport
}

// checkReport is what check --json prints.
type checkReport struct {
	Files []*checkedFile `json:"files"`
}

type checkedFile struct {
	Path     string         `json:"path"`
	Title    string         `json:"title"`
	Sections int            `json:"sections"`
	Links    int            `json:"links"`
	Commit   string         `json:"commit,omitempty"` // that the links are pinned to
	Head     string         `json:"head,omitempty"`   // that the repository is at
	Stale    bool           `json:"stale,omitempty"`
	Changed  int64          `json:"changed,omitempty"` // files, since Commit
	Problems []checkProblem `json:"problems"`
}

type checkProblem struct {
	Line     int            `json:"line"`
	Rule     check.Rule     `json:"rule"`
	Severity check.Severity `json:"severity"`
	Message  string         `json:"message"`
}

func (f *checkedFile) problem(line int, rule check.Rule, s check.Severity, format string, args ...any) {
	f.Problems = append(f.Problems, checkProblem{line, rule, s, fmt.Sprintf(format, args...)})
}

func checkCommand() *cobra.Command {
	var c checking
	cmd := &cobra.Command{
		Use:     "check <file|folder|URL>",
		GroupID: working,
		Short:   "Say where an llms.txt is not as it must be",
		Long: `Check reads an llms.txt, or every llms.txt and *-llms.txt below a folder, and prints what is wrong, one
line each: file:line: error or warning: what (rule). A relative link must lead to a file below the file's
folder or below --repository.

With --stale, files must not have changed since the commit that the links are pinned to: those of the
repository, or of the --repository folder in it, and linked ones also without a commit. Only llms.txt
files and what is generated beside them may.

Exit codes:
  0 no errors   1 errors   2 usage   3 configuration   4 server   5 limit   10 stale`,
		Example: `  lastword check llms.txt
  lastword check artifacts --repository . --stale
  lastword check docs/llms.txt --json | jq '.files[].problems[]'`,
		DisableFlagsInUseLine: true,
		Args:                  oneText,
		RunE:                  c.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.repository, "repository", "",
		"`folder` that relative links and --stale are about (default the file's)")
	flags.BoolVar(&c.stale, "stale", false, "exit with 10 where files changed since the commit of the links")
	flags.BoolVar(&c.json, "json", false, "print what was found as one JSON document")
	flags.BoolVar(&c.allow.HTTP, "allow-http", false,
		"read over http as well, which anybody on the way can read and change")
	flags.BoolVar(&c.allow.Private, "allow-private", false, "read from private addresses and this machine")
	must(cmd.MarkFlagDirname("repository"))
	return cmd
}

func oneText(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(cmd, errors.New("check needs one file, folder or URL"), "for example: lastword check llms.txt")
}

func (c *checking) run(cmd *cobra.Command, args []string) error {
	err := c.material(cmd.Context(), args[0])
	if err := errors.Join(err, c.checkouts.close()); err != nil {
		return err
	}
	if err := c.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	faults, warnings, stale := c.tally()
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s, %s\n", count(int64(len(c.report.Files)), "file"), count(faults, "error"),
		count(warnings, "warning"))
	switch {
	case faults > 0:
		return &exitError{code: exitFailed}
	case stale:
		return &exitError{code: exitStale}
	}
	return nil
}

func (c *checking) tally() (faults, warnings int64, stale bool) {
	for _, f := range c.report.Files {
		stale = stale || f.Stale
		for _, p := range f.Problems {
			if p.Severity == check.Error {
				faults++
			} else {
				warnings++
			}
		}
	}
	return faults, warnings, stale
}

func (c *checking) print(w io.Writer) error {
	if c.json {
		return printJSON(w, c.report)
	}
	var b strings.Builder
	for _, f := range c.report.Files {
		for _, p := range f.Problems {
			fmt.Fprintf(&b, "%s:%d: %s: %s (%s)\n", printable(f.Path), p.Line, p.Severity, printable(p.Message), p.Rule)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
