package generate

import (
	"cmp"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// Input says what to generate. With Repository and Out alone the job writes llms.txt, llms-full.txt with the linked
// files, and llms.json.
type Input struct {
	// Repository is a folder, an archive, or the address of a repository: see package address.
	Repository string `json:"repository"`
	// Out is the folder to write under; it is made if it is missing.
	Out    string `json:"out"`
	Layout Layout `json:"layout,omitempty"`
	// File is the name of llms.txt in Out. If it is set, no other file is written.
	File string `json:"file,omitempty"`
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
	// BudgetFail makes the run fail where it would leave out what is over a budget.
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
	// Model is the name of the model that describes the repository, or AutoModel. If empty, no model is asked.
	Model string `json:"model,omitempty"`
	// RequireModel makes the run fail if the model fails. The default keeps the result without it, marked degraded.
	RequireModel bool `json:"require_model,omitempty"`
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
	SecretsFail   = "fail" // the run fails before it writes a file
	SecretsKeep   = "off"
)

// DefaultTokens is the default of Input.TokenBudget.
const DefaultTokens = 250_000

const maxModelName = 256

// leastBudget and leastTokens have room for the longest title and summary.
const (
	leastBudget = 2 << 10
	leastTokens = 1000
)

// check returns the input with its defaults, and the address of the repository.
func (in Input) check() (Input, address.Address, error) {
	if in.File != "" {
		in.Full = cmp.Or(in.Full, FullNone)
	}
	in.Full = cmp.Or(in.Full, FullSelected)
	in.Format = cmp.Or(in.Format, render.Format2)
	in.LinkStyle = cmp.Or(in.LinkStyle, "blob")
	if in.Ref == rank.RefBranch {
		in.Ref = ""
	}
	if in.Secrets == SecretsRedact {
		in.Secrets = ""
	}
	if in.TokenBudget == 0 && in.SizeBudget == 0 && in.Full != FullAll {
		in.TokenBudget = DefaultTokens
	}
	if err := in.problem(); err != nil {
		return in, address.Address{}, err
	}
	name, at, err := Located(in.Repository)
	if err != nil {
		return in, at, err
	}
	if in.Out, err = filepath.Abs(in.Out); err != nil {
		return in, at, invalid("%v", err)
	}
	in.Repository = name
	return in, at, nil
}

// problem is what is wrong with the input, beside its repository.
func (in Input) problem() error {
	switch {
	case in.Out == "":
		return invalid("name the output folder")
	case in.Layout != LayoutHost && in.Layout != LayoutFlat && in.Layout != LayoutLmstxt:
		return invalid("there is no layout %q", in.Layout)
	case in.File != "" && (!fs.ValidPath(in.File) || in.File != filepath.Base(in.File) || in.File == "."):
		return invalid("%q is not the name of a file", in.File)
	case in.File != "" && (in.Full != FullNone || in.Ctx || in.Graph):
		return invalid("a single file gets llms.txt alone; leave out full, ctx and graph")
	case in.Full != FullNone && in.Full != FullSelected && in.Full != FullAll:
		return invalid("llms-full.txt holds %s, %s or %s files, not %q", FullNone, FullSelected, FullAll, in.Full)
	case in.Format != render.Format1 && in.Format != render.Format2:
		return invalid("there is no version %d of the llms.txt format; use 1 or 2", in.Format)
	case in.LinkStyle != "blob" && in.LinkStyle != "raw":
		return invalid("there is no link style %q; use blob or raw", in.LinkStyle)
	case in.Ref != "" && in.Ref != rank.RefBranch && in.Ref != rank.RefCommit && in.Ref != rank.RefRelative:
		return invalid("links lead to the %s, the %s, or are %s, not %q", rank.RefBranch, rank.RefCommit, rank.RefRelative, in.Ref)
	case in.Ref == rank.RefRelative && in.BaseURL != "":
		return invalid("links are relative, or below a base URL: leave one out")
	case in.SizeBudget != 0 && in.SizeBudget < leastBudget:
		return invalid("a size budget of %d bytes is too small; use at least %d", in.SizeBudget, leastBudget)
	case in.TokenBudget < -1 || in.TokenBudget > 0 && in.TokenBudget < leastTokens:
		return invalid("a budget of %d tokens is too small; use at least %d, or -1 for no limit", in.TokenBudget, leastTokens)
	case in.Secrets != "" && in.Secrets != SecretsFail && in.Secrets != SecretsKeep:
		return invalid("secrets are %s, %s or %s, not %q", SecretsRedact, SecretsFail, SecretsKeep, in.Secrets)
	case in.BaseURL != "" && !isWeb(in.BaseURL):
		return invalid("the base URL for links must be http:// or https:// with a host, and without credentials")
	case in.MaxFiles < 0 || in.MaxFileBytes < 0 || in.MaxBytes < 0 || in.MaxDepth < 0:
		return invalid("limits must not be negative")
	case len(in.Model) > maxModelName || strings.ContainsFunc(in.Model, unicode.IsControl):
		return invalid("the model's name is longer than %d bytes, or has control characters", maxModelName)
	case in.RequireModel && in.Model == "":
		return invalid("name the model that is required, or use %s", AutoModel)
	}
	return nil
}

// Located returns the name of a repository as inputs of runs have it, and its address. Paths on this machine are made
// absolute. Errors: invalid_input.
func Located(repository string) (name string, at address.Address, err error) {
	if at, err = address.Parse(repository, exists); err != nil {
		return "", at, err
	}
	if at.Path != "" {
		if at.Path, err = filepath.Abs(at.Path); err != nil {
			return "", at, invalid("%v", err)
		}
	}
	if info, err := os.Stat(at.Path); at.Kind == address.Folder && (err != nil || !info.IsDir()) {
		return "", at, invalid("%s is not a folder; name the folder that holds the repository", repository)
	}
	return at.String(), at, nil
}

// isWeb refuses credentials: the URL is written to files that are published.
func isWeb(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (in Input) limits() scan.Limits {
	return scan.Limits{Files: in.MaxFiles, FileBytes: in.MaxFileBytes, TotalBytes: in.MaxBytes, Depth: in.MaxDepth}
}

func invalid(format string, args ...any) error { return messages.InvalidInput(format, args...) }
