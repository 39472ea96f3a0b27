package llmstxt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/insight"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// The names of the artifacts.
const (
	nameTxt  = "llms.txt"
	nameFull = "llms-full.txt"
	nameCtx  = "llms-ctx.txt"
	nameJSON = "llms.json"
)

// artifact is a file to write, and what renders it.
type artifact struct {
	name   string
	render func(w io.Writer) error
	digest string // that it must have; "" for a file that is checked for what it is
}

// check reads the file while it is written, and says whether it may get its final name.
func (a artifact) check() checker {
	if a.digest == "" {
		return checkOf(a.name)()
	}
	return &whole{judge: func(data []byte) error {
		if messages.Digest(string(data)) != a.digest {
			return errors.New("the cached file has changed")
		}
		return nil
	}}
}

// artifacts lists the files to write: llms.txt first, and llms.json, which names the others, last.
func (g *generation) artifacts(ctx context.Context, t *actors.TaskContext, out *folder) ([]artifact, error) {
	if g.hit != nil {
		return g.hit.artifacts(), nil
	}
	if err := g.fit(t, out); err != nil {
		return nil, err
	}
	if err := g.refuseSecrets(ctx, t); err != nil {
		return nil, err
	}
	files := []artifact{{name: nameTxt, render: func(w io.Writer) error { return render.Txt(w, g.index) }}}
	if g.input.Full != FullNone {
		files = append(files, artifact{name: nameFull, render: func(w io.Writer) error {
			dropped, err := render.Full(ctx, w, g.files, g.index, g.pack(t))
			return errors.Join(err, g.drop(t, nameFull, dropped))
		}})
	}
	if g.input.Ctx {
		files = append(files, artifact{name: nameCtx, render: func(w io.Writer) error {
			dropped, err := render.Ctx(ctx, w, g.files, g.index, g.input.Format, g.pack(t))
			return errors.Join(err, g.drop(t, nameCtx, dropped))
		}})
	}
	if g.input.File != "" {
		return files, nil
	}
	files = append(files, g.graphArtifacts()...)
	return append(files, artifact{name: nameJSON, render: func(w io.Writer) error {
		return render.JSON(w, g.document)
	}}), nil
}

// fit drops the links that the size budget has no room for. The other files link to no more than llms.txt does.
func (g *generation) fit(t *actors.TaskContext, out *folder) error {
	var over []string
	if g.input.SizeBudget > 0 {
		fitting, dropped, least := render.Fit(g.index, g.input.SizeBudget)
		if least > g.input.SizeBudget {
			return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
				"the size budget of %d bytes is too small: title, summary and facts take %d", g.input.SizeBudget, least)
		}
		for _, l := range dropped {
			over = append(over, l.Path)
		}
		g.index = insight.Pruned(fitting)
	}
	g.document = render.NewDocument(g.index, g.repo)
	if g.at.Path != "" && (g.repo.Origin.Remote == "" || hasRelative(g.index)) {
		g.document.Repository.Path = out.pathTo(g.at.Path)
	}
	in := g.input
	g.document.Format = in.Format
	g.document.Tool = render.Tool{Name: "lastword", Version: g.config.Version}
	g.document.Options = render.Options{Full: in.Full, Ctx: in.Ctx, LinkStyle: in.LinkStyle, Ref: in.Ref, BaseURL: in.BaseURL,
		SizeBudget: in.SizeBudget, TokenBudget: max(0, in.TokenBudget)}
	g.addAnswer(&g.document)
	return g.drop(t, nameTxt, over)
}

// hasRelative reports whether links of the index lead to files of the repository by their paths.
func hasRelative(index *rank.Index) bool {
	return slices.ContainsFunc(index.Sections, func(s rank.Section) bool {
		return slices.ContainsFunc(s.Links, func(l rank.Link) bool { return !strings.Contains(l.URL, "://") })
	})
}

// drop records the files that the budget had no room for, or refuses to.
func (g *generation) drop(t *actors.TaskContext, name string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if g.input.BudgetFail {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"%s is over the budget: there is no room for %s, such as %s; raise the budget, or have them left out",
			name, prose.Count(len(paths), "file"), paths[0])
	}
	g.dropped += len(paths)
	for _, p := range paths {
		g.document.Dropped = append(g.document.Dropped, render.NewDropped(name, p))
	}
	shown := paths[:min(len(paths), 5)]
	t.Log(messages.LogWarn, fmt.Sprintf("%s: dropped %s to keep the budget, such as %s",
		name, prose.Count(len(paths), "file"), strings.Join(shown, ", ")))
	return nil
}

func (g *generation) pack(t *actors.TaskContext) render.Pack {
	pack := render.Pack{Bytes: g.input.SizeBudget, Tokens: max(0, g.input.TokenBudget), Go: t.Go,
		Counts: &g.tokens.Counts, Secrets: &g.secrets, KeepSecrets: g.input.Secrets == SecretsKeep}
	if g.input.CountTokens {
		pack.Linked = g.tokens.add
	}
	if g.input.Full == FullAll {
		pack.Rest = byUse(g.repo.Files)
		pack.FileBytes = int(g.limitOfFile())
	}
	return pack
}

// limitOfFile is large enough for any file that was read, so that all are packed whole.
func (g *generation) limitOfFile() int64 {
	var most int64
	for _, f := range g.repo.Files {
		most = max(most, f.Size)
	}
	return 3 * most // text that is not UTF-8 grows when it is converted
}

// byUse orders files by what to keep if the budget is too small: the product before examples and tests, documents
// before code, and files near the root before deeper ones.
func byUse(files []scan.File) []string {
	list := slices.Clone(files)
	kind := func(f scan.File) int {
		return slices.Index([]scan.Kind{scan.Document, scan.Manifest, scan.Source, scan.Config, scan.Other}, f.Kind)
	}
	slices.SortStableFunc(list, func(a, b scan.File) int {
		if a.Place != b.Place {
			return int(a.Place) - int(b.Place)
		}
		if kind(a) != kind(b) {
			return kind(a) - kind(b)
		}
		return strings.Count(a.Path, "/") - strings.Count(b.Path, "/")
	})
	paths := make([]string, len(list))
	for i, f := range list {
		paths[i] = f.Path
	}
	return paths
}

func symbols(index *rank.Index) int {
	n := 0
	for _, s := range index.Sections {
		for _, l := range s.Links {
			n += len(l.Symbols)
		}
	}
	return n
}

// artifacts lists the cached files. They were checked when they were written; the digest shows that they are the
// same.
func (c *cached) artifacts() []artifact {
	var files []artifact
	for _, f := range c.Files {
		files = append(files, artifact{name: f.Name, digest: f.SHA256, render: func(w io.Writer) error {
			from, _, err := scan.OpenRegular(scan.Folder(c.dir), f.Name)
			if err != nil {
				return err
			}
			defer from.Close()
			_, err = io.Copy(w, from)
			return err
		}})
	}
	return files
}
