package llmstxt

import (
	"cmp"
	"context"
	"math"

	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/insight"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/tokens"
	"github.com/seed889630bf/lastword/messages/secret"
)

// Analysis is what belongs into the files of a repository. It is not changed once it was made.
type Analysis struct {
	*Repository
	Index *rank.Index
	Graph *graph.Graph // nil unless the options ask for it
	// Secrets collects the secrets that are found while files are read for a model or for packing.
	Secrets *secret.Report
	answer  insight.Answer
}

// Analyze decides what belongs into the files.
func (r *Repository) Analyze(ctx context.Context, by Caller) (*Analysis, error) {
	if r.willCount() && by.Go != nil {
		by.Go(func(context.Context) error { tokens.Load(); return nil })
	}
	most := cmp.Or(r.options.MaxLinks, defaultLinks)
	o := rank.Options{LinkStyle: r.options.LinkStyle, Ref: r.options.Ref, BaseURL: cmp.Or(r.options.LinkBase, r.base),
		Links: most, Go: by.Go}
	index, err := rank.Build(ctx, r.files, r.Scan, o, func(done, total int) { by.progress(done, total, "links") })
	if err != nil {
		return nil, err
	}
	a := &Analysis{Repository: r, Index: r.keepExisting(index, most, by), Secrets: new(secret.Report)}
	if r.options.Graph {
		a.Graph, err = r.buildGraph(ctx, a.Index, by)
	}
	return a, err
}

// willCount reports whether tokens will probably be counted: a text never has more tokens than bytes.
func (r *Repository) willCount() bool {
	size, o := int64(0), r.options
	for _, f := range r.Scan.Files {
		size += f.Size
	}
	return (o.Full != FullNone || o.Ctx) && o.TokenBudget > 0 && size > o.TokenBudget
}

// buildGraph builds the graph of packages.
func (r *Repository) buildGraph(ctx context.Context, index *rank.Index, by Caller) (*graph.Graph, error) {
	g, err := graph.Build(ctx, r.files, r.Scan, index.Survey, graph.Options{Title: index.Title, Go: by.Go,
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
func (a *Analysis) Material(ctx context.Context, most int, neutral func(string) string) (insight.Material, error) {
	return insight.Gather(ctx, a.files, a.Secrets, a.Scan, a.Index, most, neutral)
}

// Describe returns the analysis with a model's answer, which was cleaned for its index. reason says in llms.json
// where the answer comes from.
func (a *Analysis) Describe(answer insight.Answer, reason string) *Analysis {
	described := *a
	described.answer, described.Index = answer, answer.Into(a.Index, reason, a.room())
	return &described
}

// room returns how many bytes the model's lines may take in the details list.
func (a *Analysis) room() int {
	const most = 4 << 10
	budget := a.options.SizeBudget
	if budget == 0 {
		return most
	}
	_, _, front := render.Fit(a.Index, math.MaxInt64)
	return int(min(most, budget/4, budget-front-leastBudget/4))
}
