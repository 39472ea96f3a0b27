package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/git"
)

func generateCommand(config actors.Config) *cobra.Command {
	var in llmstxt.Input
	var show display
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "generate <folder>",
		Short: "Write llms.txt, llms-full.txt and llms-ctx.txt for a repository",
		Long: `Generate reads the repository in the folder and writes its llms.txt, llms-full.txt and llms-ctx.txt
to <out>/<owner>/<repo>/, as the git remote names them, or to <out>/local/<folder>/ without one.
It uses no network and no model, and runs nothing that it finds in the repository.

The run's milestones go to stderr, one line each, and what the run came to after them.
Ctrl-C cancels the run; a second Ctrl-C leaves at once.

Exit codes:
  0 completed   1 failed   2 usage   3 configuration   4 provider   5 limit or budget
  124 timeout   130 Ctrl-C   143 SIGTERM`,
		Example: `  lastword generate .
  lastword generate ~/src/app --out docs --timeout 90s
  lastword generate . --quiet --jsonl | jq -r .type`,
		DisableFlagsInUseLine: true,
		Args:                  oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case timeout < 0:
				return usage(cmd, errors.New("--timeout must not be negative"), "")
			case in.Out == "":
				return usage(cmd, errors.New("--out needs the name of a folder"), "")
			}
			in.Repository = filepath.Clean(args[0])
			job, err := llmstxt.Job(in, originOf)
			if err != nil {
				return err
			}
			show.out, show.stdout, show.stderr = in.Out, cmd.OutOrStdout(), cmd.ErrOrStderr()
			return watch(cmd.Context(), config, job, messages.Limits{WallClockMS: milliseconds(timeout)}, &show)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&in.Out, "out", "artifacts", "`folder` to write under; made where it is missing")
	flags.BoolVar(&in.Full, "full", true, "write llms-full.txt, the linked files whole; or --full=false")
	flags.BoolVar(&in.Ctx, "ctx", true, "write llms-ctx.txt, the same as XML; or --ctx=false")
	flags.BoolVar(&show.jsonl, "jsonl", false, "print the run's events to stdout, one JSON object a line")
	flags.BoolVar(&show.quiet, "quiet", false, "say nothing on stderr but errors")
	flags.DurationVar(&timeout, "timeout", 0, "longest `time` the run may take, for example 90s (default 30m)")
	return cmd
}

func oneFolder(cmd *cobra.Command, args []string) error {
	const example = "for example: lastword generate ."
	switch len(args) {
	case 0:
		return usage(cmd, errors.New("generate needs the folder of a repository"), example)
	case 1:
		return nil
	}
	return usage(cmd, fmt.Errorf("generate takes one folder, not %d", len(args)), example)
}

// milliseconds rounds up: the shortest limit is still one.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

func originOf(folder string) (scan.Origin, error) {
	o, err := git.Read(folder)
	return scan.ParseOrigin(o.Remote, o.Commit, o.Prefix), err
}
