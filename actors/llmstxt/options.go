package llmstxt

import (
	"cmp"
	"net/url"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/messages"
)

// Options say what the files contain. The zero value makes llms.txt, llms-full.txt with the linked files, and
// llms.json. The struct tags describe the options to callers; see package form.
type Options struct {
	Full string `json:"full,omitempty" form:"enum=selected|all|none,default=selected,brief=files in llms-full.txt" jsonschema:"llms-full.txt holds the linked files, all text files, or is not written"`
	Ctx  bool   `json:"ctx,omitempty" form:"brief=llms-ctx.txt too" jsonschema:"write llms-ctx.txt: each linked file, unchanged, in its own XML element"`
	// Graph adds the graph of packages, with a page for each package.
	Graph bool `json:"graph,omitempty" form:"brief=graph of packages too" jsonschema:"write the graph of packages and imports"`
	// Format 1 leaves Optional out of llms-ctx.txt.
	Format    int    `json:"format,omitempty" form:"minimum=1,maximum=2,default=2,value=version,brief=of llms.txt" jsonschema:"version of the llms.txt format"`
	LinkStyle string `json:"link_style,omitempty" form:"enum=blob|forge|raw|site|auto|relative,value=style,default=blob,brief=page or bare file or site" jsonschema:"style of links: blob or forge (the forge's pages), raw (raw files), site (pages of the documentation site, where their address is certain), auto (site, if two files agree where it is) or relative"`
	// Ref says what links point to. If the branch is unknown, it is the commit.
	Ref string `json:"ref,omitempty" form:"enum=branch|commit|relative,default=branch,brief=target of links" jsonschema:"links lead to the branch, to the commit, or are relative"`
	// LinkBase is for a repository without a remote, or with one at a host whose form of links is unknown.
	LinkBase   string `json:"link_base,omitempty" form:"value=URL" jsonschema:"base URL for links without a remote"`
	SizeBudget int64  `json:"size_budget,omitempty" form:"minimum=2048,value=bytes,brief=most bytes of a file" jsonschema:"maximum bytes of each file; it drops the least important links"`
	// TokenBudget 0 means DefaultTokens, unless there is a SizeBudget or Full is FullAll.
	TokenBudget int64 `json:"token_budget,omitempty" form:"minimum=-1,value=tokens,brief=most tokens of a file" jsonschema:"maximum tokens of llms-full.txt (default 250000), -1 for no limit"`
	MaxLinks    int   `json:"max_links,omitempty" form:"minimum=1,value=number,programs" jsonschema:"maximum number of links in llms.txt (default 100)"`
	// Include and Exclude have the form of .gitignore. What is not included, or excluded, still tells title and facts.
	Include []string `json:"include,omitempty" form:"value=pattern,programs" jsonschema:"list only files that match a pattern such as docs/**"`
	Exclude []string `json:"exclude,omitempty" form:"value=pattern,programs" jsonschema:"list no files that match a pattern such as docs/internal/"`
	// NoMemory leaves out the comment by which a later run knows what this one has offered.
	NoMemory    bool `json:"no_memory,omitempty" form:"programs" jsonschema:"leave out the comment from which a later run knows deleted links"`
	BudgetFail  bool `json:"budget_fail,omitempty" form:"programs" jsonschema:"fail if something is over a budget"`
	CountTokens bool `json:"count_tokens,omitempty" form:"brief=of each file" jsonschema:"count the tokens of each file (o200k)"`
	// Secrets applies to the text of files. Titles, notes and the material for a model never contain secrets. Models
	// cannot set it, because a repository that a model has read could tell it to keep secrets.
	Secrets string `json:"secrets,omitempty" form:"enum=redact|fail|off,default=redact,programs" jsonschema:"redact secrets in the text of files, fail if there are some, or keep them"`
	Fresh   bool   `json:"fresh,omitempty" form:"brief=ignore its own llms.txt" jsonschema:"ignore the llms.txt that the repository has"`
}

// Values of Options.Full: what llms-full.txt contains.
const (
	FullNone     = "none"     // the file is not written
	FullSelected = "selected" // the linked files
	FullAll      = "all"      // every text file
)

// Values of Options.Secrets: what happens to secrets in the text of files.
const (
	SecretsRedact = "redact"
	SecretsFail   = "fail" // a secret is an error
	SecretsKeep   = "off"
)

// DefaultTokens is the default of Options.TokenBudget.
const DefaultTokens = 250_000

// defaultLinks is the default of Options.MaxLinks.
const defaultLinks = 100

// leastBudget and leastTokens have room for the longest title and summary.
const (
	leastBudget = 2 << 10
	leastTokens = 1000
)

// Checked returns the options with their defaults. Errors: invalid_input.
func (o Options) Checked() (Options, error) {
	o.Full = cmp.Or(o.Full, FullSelected)
	o.Format = cmp.Or(o.Format, 2)
	if o.LinkStyle == rank.RefRelative && o.Ref == "" {
		o.LinkStyle, o.Ref = "", rank.RefRelative
	}
	if o.LinkStyle == "" || o.LinkStyle == "forge" {
		o.LinkStyle = "blob"
	}
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

// problem returns the error of the first option with an impossible value. It needs the defaults that Checked sets.
func (o Options) problem() error {
	switch {
	case o.Full != FullNone && o.Full != FullSelected && o.Full != FullAll:
		return messages.InvalidInput("llms-full.txt holds %s, %s or %s files, not %q", FullNone, FullSelected, FullAll, o.Full)
	case o.Format != 1 && o.Format != 2:
		return messages.InvalidInput("there is no version %d of the llms.txt format; use 1 or 2", o.Format)
	case o.LinkStyle != "blob" && o.LinkStyle != "raw" && o.LinkStyle != rank.StyleSite && o.LinkStyle != rank.StyleAuto:
		return messages.InvalidInput("there is no link style %q; use blob, forge, raw, site, auto or relative", o.LinkStyle)
	case (o.LinkStyle == rank.StyleSite || o.LinkStyle == rank.StyleAuto) && o.Ref == rank.RefRelative:
		return messages.InvalidInput("links to the site cannot be relative: leave out the link style or the ref")
	case o.Ref != "" && o.Ref != rank.RefCommit && o.Ref != rank.RefRelative:
		return messages.InvalidInput("links lead to the %s, the %s, or are %s, not %q", rank.RefBranch, rank.RefCommit, rank.RefRelative, o.Ref)
	case o.Ref == rank.RefRelative && o.LinkBase != "":
		return messages.InvalidInput("links below a base URL cannot be relative: leave out the base URL or the ref")
	case o.SizeBudget != 0 && o.SizeBudget < leastBudget:
		return messages.InvalidInput("a size budget of %d bytes is too small; use at least %d", o.SizeBudget, leastBudget)
	case o.TokenBudget < -1 || o.TokenBudget > 0 && o.TokenBudget < leastTokens:
		return messages.InvalidInput("a budget of %d tokens is too small; use at least %d, or -1 for no limit", o.TokenBudget, leastTokens)
	case o.MaxLinks < 0:
		return messages.InvalidInput("the maximum number of links must not be negative, but is %d", o.MaxLinks)
	case o.Secrets != "" && o.Secrets != SecretsFail && o.Secrets != SecretsKeep:
		return messages.InvalidInput("secrets are %s, %s or %s, not %q", SecretsRedact, SecretsFail, SecretsKeep, o.Secrets)
	case o.LinkBase != "" && !isWeb(o.LinkBase):
		return messages.InvalidInput("the base URL for links must be http:// or https:// with a host, and without credentials")
	}
	return nil
}

// isWeb reports whether base is an http or https URL. It refuses credentials, because the URL goes into published
// files.
func isWeb(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}
