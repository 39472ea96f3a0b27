package render

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
)

// Full writes llms-full.txt: the front of llms.txt, and then each file once, under its path and between fences longer
// than any in it. Before a file it lists what its package exports from other files. Where something is missing, the
// file says so. dropped lists the files that the budget had no room for. The error is the cause of ctx, or the error of w.
func Full(ctx context.Context, w io.Writer, files fs.FS, index *rank.Index, pack Pack) (dropped []string, err error) {
	v := newCleaned(index)
	front := v.front()
	if _, err := io.WriteString(w, front); err != nil {
		return nil, err
	}
	p := newPacking(ctx, files, v, pack)
	p.block = fullBlock
	if err = p.write(w, front, func(int) {}); err != nil {
		return nil, err
	}
	_, err = io.WriteString(w, p.more())
	return p.dropped, err
}

// fullBlock writes a file under its path and between fences, or why it is left out.
func fullBlock(b *bytes.Buffer, e entry, f sanitize.Text) {
	fmt.Fprintf(b, "\n## %s\n\n", sanitize.Heading(sanitize.Line(e.link.file)))
	if f.Absent != "" {
		fmt.Fprintf(b, "Left out: %s.\n", f.Absent)
		return
	}
	elsewhere(b, e.link)
	fence := strings.Repeat("`", max(sanitize.LongestRun(f.Text), 2)+1) // so that no line of the text can close it
	b.Grow(len(f.Text) + 2*len(fence) + 64)
	b.WriteString(fence + fenceWord(e.link.file) + "\n")
	b.Write(f.Text)
	if len(f.Text) > 0 && f.Text[len(f.Text)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString(fence + "\n")
	if f.Cut > 0 {
		fmt.Fprintf(b, "\nCut: %d more bytes.\n", f.Cut)
	}
}

// elsewhere lists the link's symbols that other files declare. The file's own symbols are in its text.
func elsewhere(b *bytes.Buffer, l Link) {
	n := 0
	for _, s := range l.Symbols {
		if s.Path == l.Path {
			continue
		}
		fmt.Fprintf(b, "- %s (%s:%d)", sanitize.Code(s.Signature), s.Path, s.Line)
		if s.Doc != "" {
			fmt.Fprintf(b, ": %s", sanitize.Inline(s.Doc))
		}
		b.WriteByte('\n')
		n++
	}
	if n > 0 {
		b.WriteByte('\n')
	}
}

// fenceWord returns the extension as the name of the language, if it is a plain word.
func fenceWord(name string) string {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if len(ext) > 12 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return ext
}
