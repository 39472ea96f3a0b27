package llmstxt

import (
	"cmp"
	"context"
	"math"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/tokens"
	"github.com/seed889630bf/lastword/internal/secret"
)

// Analysis is what belongs into the files of a repository. It is not changed once it was made.
type Analysis struct {
	*Repository
	index   *rank.Index
	graph   *graph.Graph   // nil unless the options ask for it
	secrets *secret.Report // what is found while files are read for a model or for packing
	answer  Answer
}

// Title returns the repository's title.
func (a *Analysis) Title() string { return a.index.Title }

// Secrets returns the secrets that were found while files were read for a model or for packing.
func (a *Analysis) Secrets() (found []Secret) {
	for _, f := range a.secrets.Findings() {
		found = append(found, Secret(f))
	}
	return found
}

// Stats are the sizes of an analysis.
type Stats struct {
	Files    int // text files that were read
	Sections int // of llms.txt
	Links    int // in llms.txt
	Symbols  int // exported names in llms.json
	Packages int // in the graph; 0 without one
	// Described: a text says what the project is.
	Described bool
}

// Stats counts what was found.
func (a *Analysis) Stats() Stats { return a.stats(a.index) }

func (a *Analysis) stats(index *rank.Index) Stats {
	s := Stats{Files: a.Len(), Sections: len(index.Sections), Described: index.Summary != ""}
	for _, section := range index.Sections {
		s.Links += len(section.Links)
		for _, l := range section.Links {
			s.Symbols += len(l.Symbols)
		}
	}
	if a.graph != nil {
		s.Packages = a.graph.Stats.Packages
	}
	return s
}

// Analyze decides what belongs into the files.
func (r *Repository) Analyze(ctx context.Context, by Caller) (*Analysis, error) {
	if r.willCount() && by.Go != nil {
		by.Go(func(context.Context) error { tokens.Load(); return nil })
	}
	most := cmp.Or(r.options.MaxLinks, defaultLinks)
	o := rank.Options{LinkStyle: r.options.LinkStyle, Ref: r.options.Ref, BaseURL: cmp.Or(r.options.LinkBase, r.base),
		Links: most, Go: by.Go}
	index, err := rank.Build(ctx, r.files, r.scan, o, func(done, total int) { by.progress(done, total, "links") })
	if err != nil {
		return nil, err
	}
	a := &Analysis{Repository: r, index: r.keepExisting(index, most, by), secrets: new(secret.Report)}
	if r.options.LinkStyle == rank.StyleSite && index.Site == "" {
		tell(by.Warn, "links lead to the repository: no configuration of a documentation site has its URL")
	}
	if r.options.Graph {
		a.graph, err = r.buildGraph(ctx, a.index, by)
	}
	return a, err
}

// willCount reports whether tokens will probably be counted: a text never has more tokens than bytes.
func (r *Repository) willCount() bool {
	size, o := int64(0), r.options
	for _, f := range r.scan.Files {
		size += f.Size
	}
	return (o.Full != FullNone || o.Ctx) && o.TokenBudget > 0 && size > o.TokenBudget
}

// buildGraph builds the graph of packages.
func (r *Repository) buildGraph(ctx context.Context, index *rank.Index, by Caller) (*graph.Graph, error) {
	g, err := graph.Build(ctx, r.files, r.scan, index.Survey, graph.Options{Title: index.Title, Go: by.Go,
		Progress: func(done, total int) { by.progress(done, total, "packages") }})
	if err != nil {
		return nil, err
	}
	for _, fact := range g.Facts {
		tell(by.Warn, NameGraph+": "+fact)
	}
	return g, nil
}

// Material returns what to show a model about the repository, in at most that many bytes. neutral removes the tokens
// of chat templates from a text.
func (a *Analysis) Material(ctx context.Context, most int, neutral func(string) string) (Material, error) {
	return gather(ctx, a.files, a.secrets, a.scan, a.index, most, neutral)
}

// Clean keeps those parts of a model's answer that may go into the files. refused says which lines were refused, and
// why.
func (a *Analysis) Clean(answer Answer, m Material) (clean Answer, refused []string) {
	return answer.clean(a.index, m)
}

// Describe returns the analysis with a model's answer, which Clean has returned. reason says in llms.json where the
// answer comes from.
func (a *Analysis) Describe(answer Answer, reason string) *Analysis {
	described := *a
	described.answer, described.index = answer, answer.into(a.index, reason, a.room())
	return &described
}

// room returns how many bytes the model's lines may take in the details list.
func (a *Analysis) room() int {
	const most = 4 << 10
	budget := a.options.SizeBudget
	if budget == 0 {
		return most
	}
	_, _, front := render.Fit(a.index, math.MaxInt64)
	return int(min(most, budget/4, budget-front-leastBudget/4))
}
