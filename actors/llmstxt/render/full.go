package render

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Full writes llms-full.txt: the front of llms.txt, then each file once, under its path and between fences longer
// than any in it; before it, what its package offers from other files. What is missing is said where it is missing.
// dropped lists the files that the budget had no room for. The error is ctx's cause or w's.
func Full(ctx context.Context, w io.Writer, files fs.FS, index *rank.Index, pack Pack) (dropped []string, err error) {
	v := newView(index)
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

func fullBlock(b *bytes.Buffer, e entry, f fileText) {
	fmt.Fprintf(b, "\n## %s\n\n", Heading(cleanLine(e.link.file)))
	if f.absent != "" {
		fmt.Fprintf(b, "Left out: %s.\n", f.absent)
		return
	}
	elsewhere(b, e.link)
	fence := strings.Repeat("`", max(longestRun(f.text), 2)+1) // so that no line of the text can close it
	b.Grow(len(f.text) + 2*len(fence) + 64)
	b.WriteString(fence + fenceWord(e.link.file) + "\n")
	b.Write(f.text)
	if len(f.text) > 0 && f.text[len(f.text)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString(fence + "\n")
	if f.cut > 0 {
		fmt.Fprintf(b, "\nCut: %d more bytes.\n", f.cut)
	}
}

// elsewhere lists the symbols of the link that other files declare; those of the file itself are in its text.
func elsewhere(b *bytes.Buffer, l Link) {
	n := 0
	for _, s := range l.Symbols {
		if s.Path == l.Path {
			continue
		}
		fmt.Fprintf(b, "- %s (%s:%d)", Code(s.Signature), s.Path, s.Line)
		if s.Doc != "" {
			fmt.Fprintf(b, ": %s", Inline(s.Doc))
		}
		b.WriteByte('\n')
		n++
	}
	if n > 0 {
		b.WriteByte('\n')
	}
}

// Code is a code span that the text cannot close.
func Code(s string) string {
	s = cmp.Or(s, " ")
	fence := strings.Repeat("`", longestRun([]byte(s))+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// longestRun counts the backticks of the longest run of them.
func longestRun(text []byte) int {
	longest := 0
	for {
		i := bytes.IndexByte(text, '`')
		if i < 0 {
			return longest
		}
		text = text[i:]
		rest := bytes.TrimLeft(text, "`")
		longest = max(longest, len(text)-len(rest))
		text = rest
	}
}

// fenceWord names the language by the extension, if that is a plain word.
func fenceWord(name string) string {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if len(ext) > 12 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return ext
}
