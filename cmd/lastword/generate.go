package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/checks"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// generateOptions holds the flags of generate.
type generateOptions struct {
	program *host.Program
	input   settings.Input
	read    repository.Source
	by      host.ModelFinder
	out     string // the folder for all files
	output  string // the only file to write, or toStdout
	inPlace bool
	explain bool
	dryRun  bool
	watches bool
	host.Foreground
	at host.Remote // the server to run at, if --server is given
}

// toStdout stands for stdout as the output file.
const toStdout = "-"

func generateCommand(p *host.Program) *cobra.Command {
	g := generateOptions{program: p, at: host.Remote{Program: p}, by: host.ModelFinder{Endpoint: p.Endpoint()}, read: p.Source()}
	g.Show.Outcome = generate.Outcome
	cmd := &cobra.Command{
		Use:               "generate [repository]",
		Args:              atMostOne,
		Annotations:       map[string]string{settings.ReadsCurrent: "by default"},
		ValidArgsFunction: folders,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case g.at.URL != "":
				return g.runAt(cmd, append(args, ".")[0])
			case cmd.Flags().Changed("token-file"):
				return exit.BadUsage(cmd, errors.New("--token-file needs --server"), "")
			}
			if g.watches {
				return g.watch(cmd, append(args, ".")[0])
			}
			return g.run(cmd, append(args, ".")[0])
		},
	}
	flags := cmd.Flags()
	about := generate.Define(generate.Config{})
	settings.Group(flags, "Files", func() {
		flags.StringVar(&g.out, "out", "artifacts", "`folder` to write under; made if missing")
		flags.StringVarP(&g.output, "output", "o", "", "`file` to write llms.txt to, and nothing else; - is stdout")
		flags.BoolVar(&g.inPlace, "in-place", false, "write into the repository, which must be a local folder")
		flags.BoolVar(&g.dryRun, "dry-run", false, "write nothing; print how the llms.txt of the repository, or --output, would change")
		g.input.AddFlags(cmd, flags, about.JobSpec.Input, func(member string) bool {
			return member != "repository" && member != "out" && !ofModel(member)
		})
		g.input.Default(flags, "ctx", "true")
		settings.ByProject(flags, "layout", "format", "link-style", "ref", "include", "exclude")
		settings.LoweredByProject(flags, "size-budget", "token-budget", "max-links")
		settings.ByOperator(flags, "out", "output", "in-place", "dry-run", "subfolder", "full", "ctx", "graph", "link-base", "budget-fail",
			"count-tokens", "secrets", "fresh", "no-memory", "no-cache")
	})
	settings.Group(flags, "Model", func() {
		g.input.AddFlags(cmd, flags, about.JobSpec.Input, ofModel)
		g.by.Endpoint.AddFlags(cmd, flags)
		settings.ByProject(flags, "model")
		settings.ByOperator(flags, "require-model")
	})
	settings.Group(flags, "Repository", func() {
		g.read.AddFlags(flags)
		g.read.AddLimitFlags(flags)
	})
	settings.Group(flags, "Run", func() {
		flags.BoolVar(&g.explain, "explain", false, "print to stdout why each file was chosen")
		flags.BoolVar(&g.watches, "watch", false, "generate again whenever a file of the folder changes, until Ctrl-C")
		settings.ByOperator(flags, "explain", "watch")
		g.Foreground.AddFlags(cmd, flags, "30m", p)
	})
	settings.Group(flags, "Server", func() { g.at.AddOwnFlags(cmd, flags) })
	settings.Must(cmd.RegisterFlagCompletionFunc("model", p.CompleteModels(&g.by.Endpoint)))
	return cmd
}

// ofModel reports whether the member of the input concerns the model.
func ofModel(member string) bool { return strings.HasSuffix(member, "model") }

// watch runs generate again whenever a file in the folder has changed, until a signal ends it.
func (g *generateOptions) watch(cmd *cobra.Command, folder string) error {
	address, err := source.Locate(folder, false)
	if err != nil {
		return err
	}
	if address.Kind != source.Folder {
		return messages.InvalidInput("--watch needs a local folder, which %s is not", folder)
	}
	for {
		changes, err := repository.Watch(cmd.Context(), address.Path, isOutput)
		if err != nil {
			return err
		}
		err = g.run(cmd, folder)
		if by, ok := errors.AsType[*exit.Error](err); ok && by.Code != exit.Interrupted && by.Code != exit.Terminated {
			err = nil // the next change may fix it
		}
		if err == nil {
			attached, first := host.Interruptible(cmd.Context(), func() {}) // before the message that mentions Ctrl-C
			fmt.Fprintf(cmd.ErrOrStderr(), "watching %s; Ctrl-C ends\n", address.Path)
			err = changes.Wait(attached)
			if by := first(); by != nil {
				err = errors.Join(err, &exit.Error{Code: exit.OfSignal(by)})
			}
		}
		if err := errors.Join(err, changes.Close()); err != nil {
			return err
		}
	}
}

// isOutput reports whether generate itself writes files with this name in the folder.
func isOutput(name string) bool {
	base := filepath.Base(name)
	temporary := base[0] == '.' && strings.HasSuffix(base, atomicfile.Suffix)
	return temporary || base == ".git" || checks.IsCompanion(filepath.ToSlash(name))
}

// run checks the flags, finds the repository, the model and the folder, and runs the job.
func (g *generateOptions) run(cmd *cobra.Command, repository string) error {
	if err := g.validate(); err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	in, err := jobschema.Read[generate.Input](g.input.JSON())
	if err != nil {
		return err
	}
	in.Repository, in.Out = repository, g.out
	if in.Model == "" && in.LinkBase == "" && cmd.Flags().Changed("base-url") {
		in.LinkBase = g.by.Endpoint.BaseURL // no model is used, so it must be meant for links
	}
	with := generate.Config{Open: g.read.Open, Limits: llmstxt.Limits(g.read.Limits), Model: g.by.Find, Secrets: g.program.Secrets,
		Version: build.This().Exact(), Cache: g.program.Env.CacheFolder()}
	defer g.by.Close()
	if err := g.by.Check(in.Model); err != nil {
		return err
	}
	g.Show.Stdout, g.Show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	remove, err := g.place(&in, &with)
	if err != nil {
		return err
	}
	defer remove()
	job, err := generate.Job(in, with)
	if err != nil {
		return err
	}
	g.Show.Open(&g.program.Display)
	limits := g.Limits()
	if in.Model != "" {
		limits.StallMS = host.Milliseconds(g.by.Endpoint.StallTimeout())
	}
	return g.program.Watch(cmd.Context(), job, limits, &g.State, &g.Show)
}

// place determines where the files are written and what is printed of them. remove deletes files that were only needed
// for printing.
func (g *generateOptions) place(in *generate.Input, with *generate.Config) (remove func(), err error) {
	remove = func() {}
	existing := cmp.Or(g.output, filepath.Join(in.Repository, llmstxt.NameTxt))
	switch {
	case g.dryRun, g.output == toStdout:
		if in.Out, err = os.MkdirTemp("", "lastword-"); err != nil {
			return remove, err
		}
		remove = func() { os.RemoveAll(in.Out) }
		in.Layout = generate.LayoutFlat // with links as seen from the repository's folder
	case g.inPlace:
		address, err := source.Locate(in.Repository, false)
		if err != nil {
			return remove, err
		}
		if address.Kind != source.Folder {
			return remove, messages.InvalidInput("--in-place writes into a local folder, which %s is not; use --out", in.Repository)
		}
		in.Out, in.Layout = settings.Real(address.Path), generate.LayoutFlat
	case g.output != "":
		in.Out, with.File = filepath.Split(g.output)
		in.Out = cmp.Or(in.Out, ".")
	}
	if g.output != "" || g.dryRun {
		in.Full, in.Ctx, in.Graph = llmstxt.FullNone, false, false
	}
	switch { // show the name as the user wrote it
	case g.inPlace:
		g.Show.Folder = in.Repository
	case g.output != toStdout && !g.dryRun:
		g.Show.Folder = in.Out
	}
	form := func(text []byte) ([]byte, error) { return text, nil }
	if g.dryRun {
		form = func(text []byte) ([]byte, error) {
			old, err := regular.Read(existing, regular.Large)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			return changes(existing, strings.SplitAfter(string(old), "\n"), strings.SplitAfter(string(text), "\n")), nil
		}
	}
	switch {
	case g.explain:
		g.Show.Print = explained(in.Out)
	case g.output == toStdout, g.dryRun:
		g.Show.Print = func(w io.Writer, s messages.State) error { return printArtifact(w, in.Out, s, llmstxt.NameTxt, form) }
	}
	return remove, nil
}

// changes lists the lines that a file loses, after -, and gets, after +, in their order; nothing if there are none.
func changes(file string, old, now []string) []byte {
	const most = 2000
	old, now = old[:min(len(old), most)], now[:min(len(now), most)]
	same := make([][]int, len(old)+1) // lines that both have in this order, from here on
	for i := range same {
		same[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); old[i] == now[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	var b bytes.Buffer
	for i, j := 0, 0; i < len(old) || j < len(now); {
		switch {
		case i < len(old) && j < len(now) && old[i] == now[j]:
			i, j = i+1, j+1
			continue
		case b.Len() == 0:
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", file, file)
		}
		if j == len(now) || i < len(old) && same[i+1][j] >= same[i][j+1] {
			b.WriteString("-" + strings.TrimRight(old[i], "\r\n") + "\n")
			i++
			continue
		}
		b.WriteString("+" + strings.TrimRight(now[j], "\r\n") + "\n")
		j++
	}
	return b.Bytes()
}

// validate finds flags that contradict each other, before anything is read or written.
func (g *generateOptions) validate() error {
	asked := 0
	for _, asks := range []bool{g.dryRun, g.explain, g.Show.JSONL, g.Show.JSON, g.output == toStdout} {
		if asks {
			asked++
		}
	}
	switch {
	case g.out == "":
		return errors.New("--out needs the name of a folder")
	case asked > 1:
		return errors.New("--dry-run, --explain, --json, --jsonl and --output - exclude each other: each has stdout for itself")
	case g.inPlace && g.output != "":
		return errors.New("--in-place and --output exclude each other; give one of them")
	case g.explain && g.output != "":
		return errors.New("--explain needs llms.json, which --output does not write; use --out")
	}
	return errors.Join(g.Check(), g.read.Check(), g.by.Endpoint.Check())
}

func atMostOne(cmd *cobra.Command, args []string) error {
	return exit.Takes(min(len(args), 1), "takes at most one argument", "")(cmd, args)
}

// folders makes shells complete the only argument with folders.
func folders(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// printArtifact prints what form returns for a file that the run has written completely.
func printArtifact(
	w io.Writer, out string, s messages.State, name string, form func(text []byte) ([]byte, error),
) error {
	for _, a := range s.Artifacts {
		if a.Name != name || a.Partial {
			continue
		}
		text, err := regular.Read(filepath.Join(out, filepath.FromSlash(a.Path)), a.Bytes)
		if err == nil {
			text, err = form(text)
		}
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	return nil
}

// explained returns a function that prints why each file was chosen, from the files in the folder.
func explained(out string) func(w io.Writer, s messages.State) error {
	return func(w io.Writer, s messages.State) error { return printArtifact(w, out, s, "llms.json", explanation) }
}

// explanation says why each file was chosen, given the content of llms.json.
func explanation(text []byte) ([]byte, error) {
	var d llmstxt.Document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", d.Title)
	if d.Summary != "" {
		fmt.Fprintf(&b, "  %s\n  from %s: %s\n", d.Summary, d.SummaryFrom, d.SummaryReason)
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range d.Sections {
		fmt.Fprintf(t, "\n%s\n", s.Name)
		for _, l := range s.Links {
			fmt.Fprintf(t, "  %4d\t%s\t%s\n", l.Score, fileOf(l), strings.Join(l.Reasons, "; "))
		}
	}
	if len(d.Dropped) > 0 {
		fmt.Fprintf(t, "\nOver the size budget\n")
		for _, x := range d.Dropped {
			fmt.Fprintf(t, "      \t%s\tof %s\n", x.Path, x.Artifact)
		}
	}
	if len(d.Passed) > 0 {
		fmt.Fprintf(t, "\nNot chosen\n")
		for _, p := range d.Passed {
			fmt.Fprintf(t, "      \t%s\t%s\n", p.Path, p.Reason)
		}
	}
	t.Flush()
	return b.Bytes(), nil
}

// fileOf returns the file that a link leads to, with the line if there is one.
func fileOf(l llmstxt.Link) string {
	if _, line, ok := strings.Cut(l.URL, "#"); ok {
		return l.Path + " " + line
	}
	return l.Path
}
