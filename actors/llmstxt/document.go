package llmstxt

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// Schema names the version of llms.json; docs/llms.schema.json is its JSON Schema.
const Schema = "llms-json/1"

// Document is the content of llms.json: what the other files say, as data, and how they were made. All texts are
// single lines without control or invisible characters.
type Document struct {
	Schema        string          `json:"schema" jsonschema:"the version of this form, llms-json/1"`
	Format        int             `json:"format" jsonschema:"the version of the llms.txt format, 1 or 2"`
	Tool          Tool            `json:"tool"`
	Repository    DocumentSource  `json:"repository"`
	Options       DocumentOptions `json:"options"`
	Title         string          `json:"title"`
	Summary       string          `json:"summary,omitempty"`
	SummaryFrom   string          `json:"summary_from,omitempty" jsonschema:"path of the file that has the summary, or the word model"`
	SummaryReason string          `json:"summary_reason,omitempty" jsonschema:"why lastword chose that file"`
	Facts         []Fact          `json:"facts"`
	Sections      []Section       `json:"sections"`
	Dropped       []Dropped       `json:"dropped" jsonschema:"links that the budget left no room for, the least important first"`
	Passed        []Passed        `json:"passed" jsonschema:"the best files that were not chosen"`
	Left          []Left          `json:"left" jsonschema:"files that lastword did not read"`
	Secrets       []Secret        `json:"secrets,omitempty" jsonschema:"redacted secrets, at most the first thousand"`
	Degraded      bool            `json:"degraded" jsonschema:"true if the result lacks something that the request asked for"`
	Cause         string          `json:"degraded_cause,omitempty"`
	// Artifacts are the files that the same run wrote.
	Artifacts []Artifact `json:"artifacts" jsonschema:"the files that the same run wrote"`
}

// Artifact is a file that was written.
type Artifact struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"number of tokens (o200k_base), if requested"`
}

// Tool is the program that wrote the files.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// DocumentSource is where the material comes from.
type DocumentSource struct {
	Remote string `json:"remote,omitempty" jsonschema:"https URL of the remote, without credentials"`
	Commit string `json:"commit,omitempty"`
	Folder string `json:"folder,omitempty" jsonschema:"the folder that was read, below the top of the repository"`
	Path   string `json:"path,omitempty" jsonschema:"the local folder or archive that relative links start from, relative to this file's folder"`
	Files  int    `json:"files" jsonschema:"text files that were read"`
}

// DocumentOptions are those that determine the content of the files.
type DocumentOptions struct {
	Full        string `json:"full" jsonschema:"what llms-full.txt holds: none, selected or all"`
	Ctx         bool   `json:"ctx"`
	LinkStyle   string `json:"link_style"`
	Ref         string `json:"ref,omitempty" jsonschema:"target of links: commit or relative; without it, the default branch"`
	BaseURL     string `json:"base_url,omitempty"`
	SizeBudget  int64  `json:"size_budget,omitempty" jsonschema:"maximum bytes of each file"`
	TokenBudget int64  `json:"token_budget,omitempty" jsonschema:"maximum tokens of llms-full.txt, and of llms-ctx.txt"`
	Model       string `json:"model,omitempty"`
}

// Fact is one line about the repository.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Section is a list of links under a name that is unique in the document.
type Section struct {
	Name  string `json:"name"`
	Links []Link `json:"links"`
}

// Link points to one file.
type Link struct {
	Title   string   `json:"title"`
	URL     string   `json:"url"`
	Note    string   `json:"note,omitempty"`
	Path    string   `json:"path"`
	Score   int      `json:"score"`
	Tokens  int      `json:"tokens,omitempty" jsonschema:"number of tokens of the file's text, if requested"`
	Reasons []string `json:"reasons"`
	Symbols []Symbol `json:"symbols"`
}

// Symbol is an exported name.
type Symbol struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Signature string `json:"signature,omitempty"`
	Doc       string `json:"doc,omitempty"`
	Path      string `json:"path"`
	Line      int    `json:"line"`
	URL       string `json:"url"`
}

// Dropped is a link or a file that exceeds the budget, wholly or in part.
type Dropped struct {
	Artifact string `json:"artifact" jsonschema:"the file that lacks it"`
	Path     string `json:"path"`
}

// Passed is a file that was not chosen, with the reason.
type Passed struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Secret is a secret that was found in a file.
type Secret struct {
	Rule string `json:"rule" jsonschema:"the kind of the secret, such as github-token"`
	Path string `json:"path"`
	Line int    `json:"line"`
}

// String describes the secret by its kind and position.
func (s Secret) String() string { return fmt.Sprintf("%s in %s:%d", s.Rule, s.Path, s.Line) }

// Left counts what was not read for one reason.
type Left struct {
	Reason  string `json:"reason"`
	Files   int    `json:"files"`
	Folders int    `json:"folders"`
	First   string `json:"first"`
}

// newDocument makes a Document from the index and the repository. The caller sets Tool, Options, Format and Dropped.
func newDocument(index *rank.Index, repo *scan.Repository) Document {
	line := sanitize.Liner()
	o := index.Origin
	d := Document{
		Schema:     Schema,
		Repository: DocumentSource{Remote: o.Remote, Commit: o.Commit, Folder: line(o.Prefix), Files: len(repo.Files)},
		Title:      line(index.Title), Summary: line(index.Summary),
		SummaryFrom: line(index.SummaryFrom), SummaryReason: line(index.SummaryReason),
		Facts: []Fact{}, Sections: []Section{}, Dropped: []Dropped{}, Passed: []Passed{}, Left: []Left{},
		Artifacts: []Artifact{},
	}
	for _, s := range render.Sections(index) {
		links := make([]Link, len(s.Links))
		for i, l := range s.Links {
			links[i] = Link{Title: l.Title, URL: l.URL, Note: l.Note, Path: l.Path, Score: l.Score, Reasons: l.Reasons, Symbols: make([]Symbol, len(l.Symbols))}
			for j, symbol := range l.Symbols {
				links[i].Symbols[j] = Symbol(symbol)
			}
		}
		d.Sections = append(d.Sections, Section{Name: s.Name, Links: links})
	}
	for _, f := range index.Facts {
		d.Facts = append(d.Facts, Fact{line(f.Name), line(f.Value)})
	}
	for _, p := range index.Passed {
		d.Passed = append(d.Passed, Passed{line(p.Path), line(p.Reason)})
	}
	for _, l := range repo.Left {
		d.Left = append(d.Left, Left{string(l.Reason), l.Files, l.Folders, line(l.First)})
	}
	return d
}

// write writes llms.json. Only w causes errors.
func (d Document) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
