package render

import (
	"context"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
)

// Excerpts reads files as a model may see them: what the other files of this package do to a text, this does as well.
// Secrets are redacted, nothing hides, and no character steers. It is for one goroutine at a time.
type Excerpts struct{ texts *texts }

// NewExcerpts reads from files, and reports their secrets. Close ends it.
func NewExcerpts(ctx context.Context, files fs.FS, secrets *secret.Report) *Excerpts {
	return &Excerpts{newTexts(ctx, files, Pack{Secrets: secrets})}
}

// Close frees what was opened.
func (e *Excerpts) Close() { e.texts.close() }

// Read gives the first lines of a file, at most so many bytes, and how many bytes are missing. A file that cannot be
// read gives nothing; the only error is the context's cause.
func (e *Excerpts) Read(path string, most int) (text string, cut int, err error) {
	e.texts.pack.FileBytes = most
	f, err := e.texts.take(entry{link: Link{file: path}})
	e.texts.pack.Secrets.Add(f.found)
	return string(f.text), f.cut, err
}

// Liner returns a function that makes a single line of any text, clean and without secrets, as the index's own are.
// It is for one goroutine at a time.
func Liner() func(s string) string {
	f := secret.NewFinder()
	return func(s string) string { return cleanLine(string(f.Redact([]byte(cleanLine(s)), nil))) }
}
