package llmstxt

import (
	"cmp"
	"net/url"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// Options say what the files hold. The zero value makes llms.txt, llms-full.txt with the linked files, and llms.json.
type Options struct {
	// Full says what llms-full.txt holds: FullSelected if empty.
	Full string `json:"full,omitempty"`
	// Ctx asks for llms-ctx.txt.
	Ctx bool `json:"ctx,omitempty"`
	// Graph asks for the graph of packages, with a page for each package.
	Graph bool `json:"graph,omitempty"`
	// Format is the version of the llms.txt format, 2 if zero.
	Format render.Format `json:"format,omitempty"`
	// LinkStyle is that of package rank: "blob", which is the default, or "raw".
	LinkStyle string `json:"link_style,omitempty"`
	// Ref says what links lead to: rank.RefBranch if empty.
	Ref string `json:"ref,omitempty"`
	// BaseURL is the base URL for links, if the repository has no remote, or one on a host whose links are unknown.
	BaseURL string `json:"base_url,omitempty"`
	// SizeBudget is the most bytes of any text file; zero is no limit.
	SizeBudget int64 `json:"size_budget,omitempty"`
	// TokenBudget is the most tokens of llms-full.txt and of llms-ctx.txt; -1 is no limit. Zero is DefaultTokens, unless
	// there is a SizeBudget, or Full is FullAll.
	TokenBudget int64 `json:"token_budget,omitempty"`
	// BudgetFail makes it an error to leave out what is over a budget.
	BudgetFail bool `json:"budget_fail,omitempty"`
	// CountTokens asks for the tokens of each file, in llms.json.
	CountTokens bool `json:"count_tokens,omitempty"`
	// Secrets says what happens to secrets in the text of files: SecretsRedact if empty. Titles and notes, and what a
	// model is given, never have them.
	Secrets string `json:"secrets,omitempty"`
	// Fresh ignores the llms.txt that the repository has. Otherwise its title, summary, order and notes win.
	Fresh bool `json:"fresh,omitempty"`
	// Limits of what is read. Zero takes the default of package scan.
	MaxFiles     int   `json:"max_files,omitempty"`
	MaxFileBytes int64 `json:"max_file_bytes,omitempty"`
	MaxBytes     int64 `json:"max_bytes,omitempty"`
	MaxDepth     int   `json:"max_depth,omitempty"`
}

// What llms-full.txt holds.
const (
	FullNone     = "none"     // the file is not written
	FullSelected = "selected" // the linked files
	FullAll      = "all"      // every text file
)

// What happens to secrets in the text of files.
const (
	SecretsRedact = "redact"
	SecretsFail   = "fail" // there are no files if there is a secret
	SecretsKeep   = "off"
)

// DefaultTokens is the default of Options.TokenBudget.
const DefaultTokens = 250_000

// leastBudget and leastTokens have room for the longest title and summary.
const (
	leastBudget = 2 << 10
	leastTokens = 1000
)

// Checked returns the options with their defaults. Errors: invalid_input.
func (o Options) Checked() (Options, error) {
	o.Full = cmp.Or(o.Full, FullSelected)
	o.Format = cmp.Or(o.Format, render.Format2)
	o.LinkStyle = cmp.Or(o.LinkStyle, "blob")
	if o.Ref == rank.RefBranch {
		o.Ref = ""
	}
	if o.Secrets == SecretsRedact {
		o.Secrets = ""
	}
	if o.TokenBudget == 0 && o.SizeBudget == 0 && o.Full != FullAll {
		o.TokenBudget = DefaultTokens
	}
	return o, o.problem()
}

func (o Options) problem() error {
	switch {
	case o.Full != FullNone && o.Full != FullSelected && o.Full != FullAll:
		return invalid("llms-full.txt holds %s, %s or %s files, not %q", FullNone, FullSelected, FullAll, o.Full)
	case o.Format != render.Format1 && o.Format != render.Format2:
		return invalid("there is no version %d of the llms.txt format; use 1 or 2", o.Format)
	case o.LinkStyle != "blob" && o.LinkStyle != "raw":
		return invalid("there is no link style %q; use blob or raw", o.LinkStyle)
	case o.Ref != "" && o.Ref != rank.RefCommit && o.Ref != rank.RefRelative:
		return invalid("links lead to the %s, the %s, or are %s, not %q", rank.RefBranch, rank.RefCommit, rank.RefRelative, o.Ref)
	case o.Ref == rank.RefRelative && o.BaseURL != "":
		return invalid("links are relative, or below a base URL: leave one out")
	case o.SizeBudget != 0 && o.SizeBudget < leastBudget:
		return invalid("a size budget of %d bytes is too small; use at least %d", o.SizeBudget, leastBudget)
	case o.TokenBudget < -1 || o.TokenBudget > 0 && o.TokenBudget < leastTokens:
		return invalid("a budget of %d tokens is too small; use at least %d, or -1 for no limit", o.TokenBudget, leastTokens)
	case o.Secrets != "" && o.Secrets != SecretsFail && o.Secrets != SecretsKeep:
		return invalid("secrets are %s, %s or %s, not %q", SecretsRedact, SecretsFail, SecretsKeep, o.Secrets)
	case o.BaseURL != "" && !isWeb(o.BaseURL):
		return invalid("the base URL for links must be http:// or https:// with a host, and without credentials")
	case o.MaxFiles < 0 || o.MaxFileBytes < 0 || o.MaxBytes < 0 || o.MaxDepth < 0:
		return invalid("limits must not be negative")
	}
	return nil
}

// isWeb refuses credentials: the URL is written to files that are published.
func isWeb(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

func (o Options) limits() scan.Limits {
	return scan.Limits{Files: o.MaxFiles, FileBytes: o.MaxFileBytes, TotalBytes: o.MaxBytes, Depth: o.MaxDepth}
}

func invalid(format string, args ...any) error { return messages.InvalidInput(format, args...) }
