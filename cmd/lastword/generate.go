package main

import (
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
		Long: `Generate reads the repository in the folder and writes its llms.txt, llms-full.txt and
llms-ctx.txt to <out>/<owner>/<repo>/<repo>-llms.txt and so on, by the git remote, or to
<out>/local/<folder>/ without one. It uses no network and no model.

The run's milestones go to stderr, a line each. Ctrl-C cancels the run; a second Ctrl-C
leaves at once.

Exit codes: 0 completed, 1 failed, 2 usage, 3 configuration, 4 provider, 5 limit or budget,
124 timeout, 130 Ctrl-C, 143 SIGTERM.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout < 0 {
				return usage(messages.Errorf(messages.Code(messages.CauseInvalidInput), "--timeout must not be negative"))
			}
			in.Repository = filepath.Clean(args[0])
			job, err := llmstxt.Job(in, originOf)
			if err != nil {
				return err
			}
			show.out, show.stdout, show.stderr = in.Out, cmd.OutOrStdout(), cmd.ErrOrStderr()
			limits := messages.Limits{WallClockMS: timeout.Milliseconds()}
			return watch(cmd.Context(), config, job, limits, &show)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Out, "out", "artifacts", "`folder` to write under")
	flags.BoolVar(&in.Full, "full", true, "write llms-full.txt")
	flags.BoolVar(&in.Ctx, "ctx", true, "write llms-ctx.txt")
	flags.BoolVar(&show.jsonl, "jsonl", false, "print the run's events to stdout, a JSON object a line")
	flags.BoolVar(&show.quiet, "quiet", false, "say nothing on stderr but errors")
	flags.DurationVar(&timeout, "timeout", 0, "longest the run may take, for example 90s (default 30m)")
	return cmd
}

func originOf(folder string) (scan.Origin, error) {
	o, err := git.Read(folder)
	return scan.ParseOrigin(o.Remote, o.Commit, o.Prefix), err
}
