package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// compare generates llms.txt again for the folder of the repository. The file is stale if that says something else.
func (c *checker) compare(ctx context.Context, f *checkedFile, repository string, is *check.Document) error {
	text, err := c.generate(ctx, repository)
	if err != nil {
		return err
	}
	now, _ := check.Parse(string(text))
	before, after := saidBy(is), saidBy(now)
	gone := slices.DeleteFunc(slices.Clone(before), func(s string) bool { return slices.Contains(after, s) })
	come := slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) })
	if changed := append(gone, come...); len(changed) > 0 {
		f.Stale, f.Changed = true, int64(len(changed))
		f.problem(1, ruleStale, check.Warning, "generated again, the file differs in %s: %s",
			terminal.Count(f.Changed, "line"), some(changed))
	}
	return nil
}

// saidBy lists what a file says: its title, its summary and its links, wherever these lead to.
func saidBy(d *check.Document) []string {
	said := []string{d.Title, d.Summary}
	for _, s := range d.Sections {
		for _, l := range s.Links {
			said = append(said, s.Name+": "+l.Title+", "+path.Base(l.URL)+", "+l.Note)
		}
	}
	return said
}

// generate returns the llms.txt of the folder.
func (c *checker) generate(ctx context.Context, folder string) (text []byte, err error) {
	out, err := os.MkdirTemp("", "lastword-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	read := c.program.Source()
	job, err := llmstxt.Job(llmstxt.Input{Repository: folder, Out: out, Layout: llmstxt.LayoutFlat, Full: llmstxt.FullNone},
		llmstxt.Config{Open: read.Open, Secrets: c.program.Secrets, Version: host.ThisBuild().Exact()})
	if err != nil {
		return nil, err
	}
	system, err := actors.New(ctx, actors.Config{})
	if err != nil {
		return nil, err
	}
	defer system.Close(ctx)
	run, err := system.Start(ctx, job, actors.Options{})
	if err != nil {
		return nil, err
	}
	state, err := run.Wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case state.Status != messages.Completed:
		return nil, exit.Invalid("--stale: the file cannot be generated again: %s", state.End.Error.Message)
	}
	return os.ReadFile(filepath.Join(out, "llms.txt"))
}
