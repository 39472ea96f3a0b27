package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// Define returns the definition of the job. [actors.New] refuses one whose Config lacks Open.
func Define(config Config) actors.Definition {
	return actors.Definition{Name: Name, JobSpec: messages.JobSpec{
		Title: "Generate llms.txt",
		Description: "Writes llms.txt, an index of a repository, with llms-full.txt (the linked " +
			"files) and llms.json. Start it with " +
			"run_start for a big repository.",
		Input: jobschema.Input[Input](), ModelInput: jobschema.ForModels[Input](), Output: jobschema.Result[Result](),
		Idempotent: true, OpenWorld: true, Summary: summarize,
	}, Wrong: config.check(), New: actors.Typed(func(in Input) (actors.Job, error) { return Job(in, config) })}
}

// summarize summarizes the run in a few lines.
func summarize(ended messages.State) string {
	end := ended.End
	switch {
	case end != nil && end.Error != nil:
		return fmt.Sprintf("generate %s, %s: %s (run %s)", ended.Status, end.Cause, end.Error.Message, ended.RunID)
	case end == nil || ended.Status != messages.Completed:
		return fmt.Sprintf("generate %s (run %s)", ended.Status, ended.RunID)
	}
	var r Result
	_ = json.Unmarshal(end.Result, &r) // missing members are not mentioned
	var b strings.Builder
	b.WriteString(r.Title)
	if r.Summary != "" {
		b.WriteString(": " + r.Summary)
	}
	fmt.Fprintf(&b, "\nllms.txt links to %d of the %d files. Run %s wrote in %s: %s.\n", r.Links, r.Files, ended.RunID,
		r.Folder, filesOf(ended))
	if end.Degraded {
		fmt.Fprintf(&b, "The model failed (%s): this is what can be said without one.\n", r.Cause)
	}
	b.WriteString("Read a file with run_read {run_id, name}.")
	return b.String()
}

// filesOf lists the files of a run with their sizes. It counts the pages, because there may be thousands.
func filesOf(ended messages.State) string {
	var all []string
	pages := 0
	for _, a := range ended.Artifacts {
		if llmstxt.IsPage(a.Name) {
			pages++
			continue
		}
		all = append(all, fmt.Sprintf("%s (%d bytes)", a.Name, a.Bytes))
	}
	if pages > 0 {
		all = append(all, fmt.Sprintf("%d more", pages))
	}
	return strings.Join(all, ", ")
}

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
	dir string, about *llmstxt.Analysis, files *llmstxt.Files, written []llmstxt.Artifact,
) Result {
	tokens := 0
	full := func(a llmstxt.Artifact) bool { return a.Name == llmstxt.NameFull }
	if i := slices.IndexFunc(written, full); i >= 0 {
		tokens = written[i].Tokens
	}
	d, s, stats := files.Document(), g.config.Secrets, files.Stats() // d's strings are safe to show
	return Result{Title: s.Text(d.Title), Summary: s.Text(d.Summary), Folder: dir, Files: stats.Files,
		Links: stats.Links, Symbols: stats.Symbols, Packages: stats.Packages, Dropped: len(d.Dropped),
		TokenBudget: d.Options.TokenBudget, Secrets: len(about.Secrets()), Tokens: tokens,
		Commit: d.Repository.Commit, Remote: d.Repository.Remote, Model: d.Options.Model, Degraded: d.Degraded, Cause: messages.Code(d.Cause)}
}

// Config holds what the job needs besides its input, and what only an operator may set.
type Config struct {
	// Open finds the repository of an Input, as [transport/repository.Options.Open] does, but does not read it yet. It is
	// needed. Errors: invalid_input if the address does not exist or is not allowed. Network errors may be retried.
	Open func(ctx context.Context, address source.Address) (*source.Repository, error)
	// RemoteOnly refuses repositories on this machine, without looking for them.
	RemoteOnly bool
	// Limits bound what is read of a repository.
	Limits llmstxt.Limits
	// Folder returns the folder below which the runs of a principal write, for Input.Out. nil uses Input.Out as it
	// is.
	Folder func(principal, out string) (string, error)
	// File is the file name for llms.txt. If set, no other file is written.
	File string
	// Model finds the model of an Input that names one, or any model for [AutoModel]; nil finds none. Its errors usually
	// have the code provider_error. DefaultModel is the model for AutoModel.
	Model        func(ctx context.Context, name string) (*Model, error)
	DefaultModel string
	// Cache is the folder of earlier results. If it is empty, or if the input says so, nothing is cached.
	Cache string
	// Secrets are removed from every file. It may be nil.
	Secrets *redact.Secrets
	// Spend is called with a number of bytes before they are written. Its error ends the run. nil allows all.
	Spend func(ctx context.Context, principal string, bytes int) error
	// Version is the version of the program. Cached results of other versions are not used.
	Version string
}

// check returns why the job cannot work, or nil.
func (c Config) check() error {
	if c.Open == nil {
		return messages.InvalidInput("generate needs Config.Open; set it to Open of a transport/repository.Options")
	}
	return nil
}
