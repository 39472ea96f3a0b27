package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/shown"
)

// Format is a version of the llms.txt format. Both versions have the same text; they differ in the meaning of
// Optional.
type Format int

const (
	// Format1 is the version of 2024: files under Optional are left out of llms-ctx.txt.
	Format1 Format = 1
	// Format2 is the version of August 2026: a reader may skip Optional, but nothing skips it for the reader.
	Format2 Format = 2
)

// Txt writes llms.txt. It leaves out links without a URL, and sections without links. The only errors are those of w.
func Txt(w io.Writer, index *rank.Index) error {
	var b bytes.Buffer
	v := newCleaned(index)
	b.WriteString(v.front())
	for _, s := range v.sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Name)
		for _, l := range s.Links {
			fmt.Fprintf(&b, "- [%s](%s)", shown.LinkTitle(l.Title), l.URL)
			if l.Note != "" {
				b.WriteString(": " + shown.Inline(l.Note))
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// front returns the text before the sections. The details are never empty, because without them common parsers take
// the summary for details.
func (v cleaned) front() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", shown.Heading(v.title))
	if v.summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", shown.Paragraph(v.summary))
	}
	for _, line := range v.details {
		fmt.Fprintf(&b, "- %s\n", shown.Paragraph(line))
	}
	return b.String()
}
