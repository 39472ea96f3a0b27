package render

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Full writes llms-full.txt: the front of llms.txt, then each linked file once,
// under its path and between fences longer than any in it. What is missing is
// said where it is missing. The error is ctx's cause or w's.
func Full(ctx context.Context, w io.Writer, files fs.FS, index *rank.Index, bounds Bounds) error {
	b := bufio.NewWriter(w)
	v := newView(index)
	v.front(b)
	texts := newTexts(ctx, files, bounds)
	for _, s := range v.sections {
		for _, l := range s.links {
			if texts.seen[l.path] || l.path == "" {
				continue
			}
			f, err := texts.take(l.path)
			if err != nil {
				return err
			}
			writeFile(b, l.path, f)
		}
	}
	return b.Flush()
}

func writeFile(b *bufio.Writer, name string, f fileText) {
	fmt.Fprintf(b, "\n## %s\n\n", heading(cleanLine(name)))
	if f.absent != "" {
		fmt.Fprintf(b, "Left out: %s.\n", f.absent)
		return
	}
	fence := fenceFor(f.text)
	fmt.Fprintf(b, "%s%s\n%s", fence, fenceWord(name), f.text)
	if f.text != "" && !strings.HasSuffix(f.text, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s\n", fence)
	if f.cut > 0 {
		fmt.Fprintf(b, "\nCut: %d more bytes.\n", f.cut)
	}
}

// fenceFor is longer than any run of backticks in the text, so that no line of
// the text can close it.
func fenceFor(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// fenceWord names the language by the extension, if that is a plain word.
func fenceWord(name string) string {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if len(ext) > 12 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return ext
}
