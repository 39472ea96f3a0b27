package generate

import (
	"slices"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

// Result is the result of the run.
type Result struct {
	Title   string `json:"title"`
	Summary string `json:"summary,omitempty"`
	// Folder is the folder with the files: slash-separated, relative to Input.Out.
	Folder string `json:"folder"`
	Files  int    `json:"files"`
	Links  int    `json:"links"`
	// Symbols counts the exported names in llms.json.
	Symbols int `json:"symbols"`
	// Packages counts the packages of the repository in the graph.
	Packages int `json:"packages,omitempty"`
	// Dropped counts the links and files that did not fit the budget.
	Dropped int `json:"dropped,omitempty"`
	// TokenBudget bounds the tokens of llms-full.txt and of llms-ctx.txt.
	TokenBudget int64 `json:"token_budget,omitempty"`
	// Secrets counts the secrets that were redacted.
	Secrets int `json:"secrets,omitempty"`
	// Tokens counts the tokens of llms-full.txt, if requested.
	Tokens int    `json:"tokens,omitempty"`
	Commit string `json:"commit,omitempty"`
	Remote string `json:"remote,omitempty"`
	// Cached says that the files come from an earlier run.
	Cached bool `json:"cached,omitempty"`
	// Model is the model that answered, or else the one that was requested.
	Model string `json:"model,omitempty"`
	// Degraded says that the model failed, and that the files were written without it. Cause is the reason.
	Degraded bool          `json:"degraded,omitempty"`
	Cause    messages.Code `json:"degraded_cause,omitempty"`
}

// result summarizes the files in the folder dir.
func (g *generation) result(
	dir string, about *llmstxt.Analysis, files *llmstxt.Files, written []render.Artifact,
) Result {
	packages, tokens := 0, 0
	if about.Graph != nil {
		packages = about.Graph.Stats.Packages
	}
	full := func(a render.Artifact) bool { return a.Name == llmstxt.NameFull }
	if i := slices.IndexFunc(written, full); i >= 0 {
		tokens = written[i].Tokens
	}
	d, s, o := files.Document(), g.config.Secrets, about.Scan.Origin // d's strings are safe to show
	links, symbols := count(files.Index)
	return Result{Title: s.Text(d.Title), Summary: s.Text(d.Summary), Folder: dir, Files: len(about.Scan.Files),
		Links: links, Symbols: symbols, Packages: packages, Dropped: len(d.Dropped),
		TokenBudget: d.Options.TokenBudget, Secrets: len(about.Secrets.Findings()), Tokens: tokens,
		Commit: o.Commit, Remote: o.Remote, Model: d.Options.Model, Degraded: d.Degraded, Cause: messages.Code(d.Cause)}
}
