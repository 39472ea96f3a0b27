package render

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Full writes llms-full.txt: the front of llms.txt, then each file once, under its path and between fences longer than
// any in it; before it, what its package offers from other files. What is missing is said where it is missing. dropped
// lists the files that the budget had no room for. The error is ctx's cause or w's.
func Full(ctx context.Context, w io.Writer, files fs.FS, index *rank.Index, pack Pack) (dropped []string, err error) {
	b := bufio.NewWriterSize(w, 64<<10)
	v := newView(index)
	pack = pack.withDefaults()
	var front bytes.Buffer
	v.front(&front)
	b.Write(front.Bytes())
	p := newPacking(ctx, files, v, pack, more(once(v.entries()), pack.Rest))
	p.block = fullBlock
	if err := p.write(b, int64(front.Len()), func(int) {}); err != nil {
		return nil, err
	}
	return p.dropped, b.Flush()
}

func once(list []entry) []entry {
	var first []entry
	for _, e := range list {
		if !e.again {
			first = append(first, e)
		}
	}
	return first
}

func fullBlock(b *bytes.Buffer, e entry, f fileText) {
	fmt.Fprintf(b, "\n## %s\n\n", heading(cleanLine(e.link.path)))
	if f.absent != "" {
		fmt.Fprintf(b, "Left out: %s.\n", f.absent)
		return
	}
	elsewhere(b, e.link)
	fence := fenceFor(f.text)
	fmt.Fprintf(b, "%s%s\n%s", fence, fenceWord(e.link.path), f.text)
	if f.text != "" && !strings.HasSuffix(f.text, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s\n", fence)
	if f.cut > 0 {
		fmt.Fprintf(b, "\nCut: %d more bytes.\n", f.cut)
	}
}

// elsewhere lists the symbols of the link that other files declare; those of the file itself are in its text.
func elsewhere(b *bytes.Buffer, l link) {
	n := 0
	for _, s := range l.symbols {
		if s.file == "" || s.file == l.path {
			continue
		}
		fmt.Fprintf(b, "- %s (%s:%d)", code(s.signature), s.file, s.line)
		if s.doc != "" {
			fmt.Fprintf(b, ": %s", inline(s.doc))
		}
		b.WriteByte('\n')
		n++
	}
	if n > 0 {
		b.WriteByte('\n')
	}
}

// code is a code span that the text cannot close.
func code(s string) string {
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fenceFor is longer than any run of backticks in the text, so that no line of the text can close it.
func fenceFor(text string) string { return strings.Repeat("`", max(longestRun(text), 2)+1) }

func longestRun(text string) int {
	longest := 0
	for i := strings.IndexByte(text, '`'); i >= 0; {
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		longest = max(longest, run)
		next := strings.IndexByte(text[i+run:], '`')
		if next < 0 {
			break
		}
		i += run + next
	}
	return longest
}

// fenceWord names the language by the extension, if that is a plain word.
func fenceWord(name string) string {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if len(ext) > 12 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return ext
}
