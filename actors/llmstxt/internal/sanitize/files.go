package sanitize

import (
	"context"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/secret"
)

// Text is the text of a file, or the reason why there is none.
type Text struct {
	Text   []byte // valid until the next read
	Cut    int    // number of missing bytes
	Absent string
	Found  []secret.Finding // what was redacted
}

// Files reads the text of files, made safe to show. It is for one goroutine at a time.
type Files struct {
	ctx         context.Context
	reader      *scan.Reader
	keepSecrets bool
	finder      *secret.Finder
}

// Open returns Files that read from files until Close. With keepSecrets, secrets are not redacted.
func Open(ctx context.Context, files fs.FS, keepSecrets bool) *Files {
	finder := secret.NewFinder()
	finder.Context = ctx
	return &Files{ctx, scan.NewReader(files), keepSecrets, finder}
}

// Close frees what was opened.
func (f *Files) Close() { f.reader.Close() }

// readLimit is how much of a file is read at least, to find whole secrets before the text is cut.
const readLimit = 2 << 20

// Read returns the first lines of a file, at most so many bytes. The only error is the context's cause.
func (f *Files) Read(path string, most int) (Text, error) {
	whole, found, err := f.whole(path, max(readLimit, int64(most)))
	switch {
	case f.ctx.Err() != nil:
		return Text{}, context.Cause(f.ctx)
	case err != nil:
		return Text{Absent: "cannot be read"}, nil
	}
	text := CutLines(whole, most)
	return Text{Text: text, Cut: len(whole) - len(text), Found: found}, nil
}

// whole returns the file's text.
func (f *Files) whole(path string, limit int64) (text []byte, found []secret.Finding, err error) {
	text, _, err = f.reader.Read(f.ctx, path, limit)
	text = neutralize(text)
	if !f.keepSecrets {
		text, found = f.finder.RedactFile(path, text)
	}
	return text, found, err
}
