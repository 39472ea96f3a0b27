package generate

import (
	"cmp"
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
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
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
}

// artifacts lists the files to write: llms.txt first, and llms.json, which names the others, last.
func (g *generation) artifacts(ctx context.Context, t *actors.TaskContext, out *folder) ([]artifact, error) {
	if g.hit != nil {
		return g.hit.artifacts(), nil
	}
	if err := g.fit(out); err != nil {
		return nil, err
	}
	if err := g.refuseSecrets(ctx, t); err != nil {
		return nil, err
	}
	files := []artifact{{name: nameTxt, render: func(w io.Writer) error { return render.Txt(w, g.index) }}}
	if g.input.Full != FullNone {
		files = append(files, artifact{name: nameFull, render: func(w io.Writer) error {
			dropped, err := render.Full(ctx, w, g.files, g.index, g.pack(t))
			return errors.Join(err, g.drop(nameFull, dropped))
		}})
	}
	if g.input.Ctx {
		files = append(files, artifact{name: nameCtx, render: func(w io.Writer) error {
			dropped, err := render.Ctx(ctx, w, g.files, g.index, g.input.Format, g.pack(t))
			return errors.Join(err, g.drop(nameCtx, dropped))
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
func (g *generation) fit(out *folder) error {
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
		g.document.Repository.Path = relativeURL(out.path, g.at.Path)
	}
	in := g.input
	g.document.Format = in.Format
	g.document.Tool = render.Tool{Name: "lastword", Version: g.config.Version}
	g.document.Options = render.Options{Full: in.Full, Ctx: in.Ctx, LinkStyle: in.LinkStyle, Ref: in.Ref, BaseURL: in.BaseURL,
		SizeBudget: in.SizeBudget, TokenBudget: max(0, in.TokenBudget)}
	g.addAnswer(&g.document)
	return g.drop(nameTxt, over)
}

// hasRelative reports whether links of the index lead to files of the repository by their paths.
func hasRelative(index *rank.Index) bool {
	return slices.ContainsFunc(index.Sections, func(s rank.Section) bool {
		return slices.ContainsFunc(s.Links, func(l rank.Link) bool { return !strings.Contains(l.URL, "://") })
	})
}

// drop records the files that the budget had no room for, or refuses to.
func (g *generation) drop(name string, paths []string) error {
	if g.input.BudgetFail && len(paths) > 0 {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"%s is over the budget: there is no room for %s, such as %s; raise the budget, or have them left out",
			name, prose.Count(len(paths), "file"), paths[0])
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dropped[name] = paths
	return nil
}

// tellDropped says what is missing in a file that is written.
func (g *generation) tellDropped(t *actors.TaskContext, name string) {
	g.mu.Lock()
	paths := g.dropped[name]
	g.mu.Unlock()
	if len(paths) == 0 {
		return
	}
	for _, p := range paths {
		g.document.Dropped = append(g.document.Dropped, render.NewDropped(name, p))
	}
	shown := paths[:min(len(paths), 5)]
	t.Log(messages.LogWarn, fmt.Sprintf("%s: dropped %s to keep the budget, such as %s",
		name, prose.Count(len(paths), "file"), strings.Join(shown, ", ")))
}

func (g *generation) pack(t *actors.TaskContext) render.Pack {
	pack := render.Pack{Bytes: g.input.SizeBudget, Tokens: max(0, g.input.TokenBudget), Go: t.Go,
		Counts: &g.tokens.Counts, Secrets: &g.secrets, KeepSecrets: g.input.Secrets == SecretsKeep}
	if g.input.CountTokens {
		pack.Linked = func(path string, tokens int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.tokens.files[path] = tokens
		}
	}
	if g.input.Full == FullAll {
		pack.Rest = byUse(g.repo.Files)
		most := int(min(max(g.input.MaxFileBytes, 1<<20), 1<<29)) // of any file that was read
		pack.FileBytes = 3 * most                                 // text that is not UTF-8 grows when it is converted
	}
	return pack
}

// byUse orders files by what to keep if the budget is too small: the product before examples and tests, documents
// before code, and files near the root before deeper ones.
func byUse(files []scan.File) []string {
	kind := func(f scan.File) int {
		return slices.Index([]scan.Kind{scan.Document, scan.Manifest, scan.Source, scan.Config, scan.Other}, f.Kind)
	}
	return paths(slices.SortedStableFunc(slices.Values(files), func(a, b scan.File) int {
		return cmp.Or(int(a.Place)-int(b.Place), kind(a)-kind(b), strings.Count(a.Path, "/")-strings.Count(b.Path, "/"))
	}))
}

func paths(files []scan.File) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = f.Path
	}
	return list
}

// artifacts lists the cached files.
func (c *cached) artifacts() []artifact {
	var files []artifact
	for _, f := range c.Files {
		files = append(files, artifact{f.Name, func(w io.Writer) error {
			data, err := c.read(f)
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		}})
	}
	return files
}
