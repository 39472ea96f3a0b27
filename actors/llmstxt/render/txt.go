package render

import (
	"bufio"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Txt writes llms.txt. Links without a URL are left out, and sections without
// links. The only error is w's.
func Txt(w io.Writer, index *rank.Index) error {
	b := bufio.NewWriter(w)
	v := newView(index)
	v.front(b)
	for _, s := range v.sections {
		fmt.Fprintf(b, "\n## %s\n\n", s.name)
		for _, l := range s.links {
			fmt.Fprintf(b, "- [%s](%s)", linkTitle(l.title), l.url)
			if l.note != "" {
				fmt.Fprintf(b, ": %s", inline(l.note))
			}
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// front writes what precedes the sections. The details are never empty: without
// them common parsers take the summary for details.
func (v view) front(b *bufio.Writer) {
	fmt.Fprintf(b, "# %s\n\n", heading(v.title))
	if v.summary != "" {
		fmt.Fprintf(b, "> %s\n\n", paragraph(v.summary))
	}
	for _, line := range v.details {
		fmt.Fprintf(b, "- %s\n", paragraph(line))
	}
}
