package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

// generating is what the flags of generate say.
type generating struct {
	in          llmstxt.Input
	read        reading
	by          describing
	full, style choice
	format      int
	budget      bytesize
	noCache     bool
	timeout     time.Duration
	show        display
}

func generateCommand(config actors.Config, how *showing) *cobra.Command {
	var g generating
	cmd := &cobra.Command{
		Use:     "generate <repository>",
		GroupID: working,
		Short:   "Write llms.txt and its companions for a repository",
		Long: `Generate reads a repository and writes its llms.txt, llms-full.txt, llms-ctx.txt and llms.json to
<out>/<owner>/<repo>/, as the git remote names them, or to <out>/local/<name>/ without one.

The repository is a folder, an archive (tar, zip), owner/repo on GitHub, or the https URL of a Git
repository or an archive; .../tree/<ref>/<folder> reads a part of it. A token for a private one goes
only to the host that it is named with: in LASTWORD_GIT_TOKENS (host=token,...), in the file that
LASTWORD_GIT_TOKENS_FILE names, or in git's own store of credentials. GitHub's may be in
LASTWORD_GIT_TOKEN, GH_TOKEN or GITHUB_ACCESS_TOKEN.

Nothing in the repository is run, and for a folder no network is used unless --model names a model.

With --model a language model reads the README, the manifests, the public surface and what matters
most of the files, and writes the summary, concepts, what to remember and missing notes. What it
reads is marked as data, secrets are redacted, and it is offered no tools. Where it fails the files
say what can be said without it, and the run says so (degraded); with --require-model it fails.

How far the run is goes to stderr, and what it came to after that.
Ctrl-C cancels the run; a second Ctrl-C leaves at once.

Exit codes:
  0 completed   1 failed   2 usage   3 configuration   4 provider   5 limit or budget
  124 timeout   130 Ctrl-C   143 SIGTERM`,
		Example: `  lastword generate .
  lastword generate spf13/cobra --out docs
  lastword generate https://gitlab.com/gitlab-org/cli/-/tree/main/docs --full all
  lastword generate ~/src/app --size-budget 200k --explain
  lastword generate . --model auto --require-model
  lastword generate . --quiet --json | jq -r '.artifacts[].path'`,
		DisableFlagsInUseLine: true,
		Args:                  oneRepository,
		ValidArgsFunction:     folders,
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.run(cmd, args[0], config, how)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	g.writing(cmd, flags)
	g.by.flags(cmd, flags, &g.in)
	g.read.from.flags(flags)
	g.read.flags(flags)
	g.telling(flags)
	must(cmd.MarkFlagDirname("out"))
	return cmd
}

// writing adds the flags that say what is written.
func (g *generating) writing(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(&g.in.Out, "out", "artifacts", "`folder` to write under; made where it is missing")
	choose(cmd, flags, &g.full, "full",
		"what llms-full.txt holds: the linked files, every text file, or it is not written",
		llmstxt.FullSelected, llmstxt.FullAll, llmstxt.FullNone)
	flags.BoolVar(&g.in.Ctx, "ctx", true, "write llms-ctx.txt, the linked files as XML; or --ctx=false")
	flags.BoolVar(&g.in.Graph, "graph", false, "write the graph of packages and their imports as well, with a page for each")
	flags.IntVar(&g.format, "format", 2, "`version` of the llms.txt format, 1 or 2; 1 leaves Optional out of llms-ctx.txt")
	choose(cmd, flags, &g.style, "link-style", "links lead to the host's pages or to the bare files", "blob", "raw")
	flags.StringVar(&g.in.BaseURL, "link-base", "",
		"`URL` that links begin with where the repository does not say its own; so is --base-url without --model")
	flags.Var(&g.budget, "size-budget", "most `bytes` of any one text file, such as 200k; the least important is dropped")
	flags.BoolVar(&g.noCache, "no-cache", false, "neither take the result from the cache nor keep it there")
}

// telling adds the flags that say what is told of the run.
func (g *generating) telling(flags *pflag.FlagSet) {
	flags.BoolVar(&g.show.explain, "explain", false, "print on stdout why each file was chosen")
	flags.BoolVar(&g.show.jsonl, "jsonl", false, "print the run's events to stdout, one JSON object a line")
	flags.BoolVar(&g.show.json, "json", false, "print what the run came to on stdout, as one JSON object")
	flags.BoolVar(&g.show.quiet, "quiet", false, "say nothing on stderr but errors")
	flags.DurationVar(&g.timeout, "timeout", 0, "longest `time` the run may take, for example 90s (default 30m)")
}

func (g *generating) run(cmd *cobra.Command, repository string, config actors.Config, how *showing) error {
	if err := g.judge(); err != nil {
		return usage(cmd, err, "")
	}
	known := secretsOf(cmd.Context())
	g.by.at.secrets, g.read.from.secrets = known, known
	in := g.in
	in.Repository, in.Full, in.LinkStyle, in.Format = repository, g.full.value, g.style.value, render.Format(g.format)
	in.SizeBudget = int64(g.budget)
	g.read.limit(&in)
	if in.Model == "" && in.BaseURL == "" && cmd.Flags().Changed("base-url") {
		in.BaseURL = g.by.at.baseURL // no server is asked: it can only be meant for the links
	}
	with := llmstxt.Config{Open: g.read.from.open, Model: g.by.find, Secrets: known, Version: aboutThis().exact()}
	defer g.by.close()
	if !g.noCache {
		with.Cache = cacheFolder()
	}
	if err := g.by.judge(in.Model); err != nil {
		return err
	}
	job, err := llmstxt.Job(in, with)
	if err != nil {
		return err
	}
	g.show.out, g.show.stdout, g.show.stderr = in.Out, cmd.OutOrStdout(), cmd.ErrOrStderr()
	g.show.open(how)
	limits := messages.Limits{WallClockMS: milliseconds(g.timeout)}
	if in.Model != "" {
		limits.StallMS = milliseconds(g.by.at.stall())
	}
	return watch(cmd.Context(), config, job, limits, &g.show)
}

func (g *generating) judge() error {
	asked := 0
	for _, asks := range []bool{g.show.explain, g.show.jsonl, g.show.json} {
		if asks {
			asked++
		}
	}
	switch {
	case g.timeout < 0:
		return errNegative("--timeout")
	case g.in.Out == "":
		return errors.New("--out needs the name of a folder")
	case asked > 1:
		return errors.New("--explain, --json and --jsonl exclude each other: each has stdout for itself")
	case g.in.RequireModel && g.in.Model == "":
		return errors.New("--require-model needs --model")
	}
	return errors.Join(g.read.judge(), g.by.at.judge())
}

func oneRepository(cmd *cobra.Command, args []string) error {
	const example = "for example: lastword generate ."
	switch len(args) {
	case 0:
		return usage(cmd, errors.New("generate needs a repository: a folder, an archive, owner/repo or a URL"), example)
	case 1:
		return nil
	}
	return usage(cmd, fmt.Errorf("generate takes one repository, not %d", len(args)), example)
}

// folders has the shell complete the only argument with folders.
func folders(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// milliseconds rounds up: the shortest limit is still one.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
