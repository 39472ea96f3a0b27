package render

import (
	"context"
	"io/fs"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// Bounds limits what of the files' text is taken over; a zero field takes its
// default.
type Bounds struct {
	FileBytes  int // of one file, default 256 KiB
	TotalBytes int // of all, default 4 MiB
}

func (b Bounds) withDefaults() Bounds {
	if b.FileBytes <= 0 {
		b.FileBytes = 256 << 10
	}
	if b.TotalBytes <= 0 {
		b.TotalBytes = 4 << 20
	}
	return b
}

// readLimit is the most that is read of a file to find whole secrets before it
// is cut.
const readLimit = 2 << 20

// texts hands out the files' text, each file once and within bounds.
type texts struct {
	ctx      context.Context
	files    fs.FS
	bounds   Bounds
	redactor *redactor
	used     int
	seen     map[string]bool
}

func newTexts(ctx context.Context, files fs.FS, bounds Bounds) *texts {
	return &texts{ctx: ctx, files: files, bounds: bounds.withDefaults(), redactor: newRedactor(), seen: make(map[string]bool)}
}

// text of a file, or the reason why there is none. cut is how many bytes of it
// are missing, with "at least" where the file was not read to its end.
type fileText struct {
	text   string
	cut    int
	absent string
}

// take reads a file. The only error is the context's cause.
func (t *texts) take(path string) (fileText, error) {
	if t.seen[path] {
		return fileText{absent: "already shown above"}, nil
	}
	t.seen[path] = true
	room := min(t.bounds.FileBytes, t.bounds.TotalBytes-t.used)
	if room <= 0 {
		return fileText{absent: "no room left"}, nil
	}
	data, _, err := scan.ReadFile(t.ctx, t.files, path, readLimit)
	switch {
	case t.ctx.Err() != nil:
		return fileText{}, context.Cause(t.ctx)
	case err != nil:
		return fileText{absent: "cannot be read"}, nil
	}
	text := t.redactor.redact(plain(string(data)))
	kept := cutLines(text, room)
	t.used += len(kept)
	return fileText{text: kept, cut: len(text) - len(kept)}, nil
}

// plain makes text of bytes: valid UTF-8, LF line ends, and U+FFFD for the
// characters that XML forbids, most of them terminal controls.
func plain(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < 0x20 || r == 0x7f || r == 0xFFFE || r == 0xFFFF:
			return '\uFFFD'
		}
		return r
	}, strings.TrimPrefix(s, "\uFEFF"))
}

// cutLines keeps whole lines, or whole characters of a single long one.
func cutLines(s string, room int) string {
	if len(s) <= room {
		return s
	}
	cut := strings.ToValidUTF8(s[:room], "")
	if i := strings.LastIndexByte(cut, '\n'); i > 0 {
		return cut[:i+1]
	}
	return cut
}
