package chat

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/internal/chat/internal/citation"
	"github.com/seed889630bf/lastword/messages"
)

// Citation is a name that the answer cites.
type Citation struct {
	Source string `json:"source"`
	// Offsets are the positions in the text, in bytes. They are empty if a structured answer only lists the source.
	Offsets []int `json:"offsets,omitempty"`
	// Verified says that a tool of this turn has read the source.
	Verified bool `json:"verified"`
}

// mostSources bounds the sources that an answer may cite, because stages list them for the model.
const mostSources = 50

// read adds the names of what a call has read to the sources. It skips names that are not one line: they could give
// the model instructions.
func (u *turn) read(names []string) {
	for _, name := range names {
		fits := name != "" && len(name) <= citation.MaxName && !strings.ContainsFunc(name, unicode.IsControl)
		if fits && len(u.sources) < mostSources && !slices.Contains(u.sources, name) {
			u.sources = append(u.sources, name)
		}
	}
}

// marks lists the sources for the model, with the marks to cite them.
func (u *turn) marks() string {
	var out strings.Builder
	for i, name := range u.sources {
		fmt.Fprintf(&out, "\n[^%d] %s", i+1, name)
	}
	if out.Len() == 0 {
		return ""
	}
	return "\nPut the mark of a source right after what rests on it. The sources:" + out.String()
}

// citations returns what the text cites, and what the model listed. numbered: the model was told the numbers of the
// sources.
func (u *turn) citations(text string, listed []string, numbered bool) (out []Citation) {
	cite := func(m citation.Mark, offsets ...int) {
		name := m.Name
		if m.Source >= 0 {
			name = u.sources[m.Source]
		}
		i := slices.IndexFunc(out, func(c Citation) bool { return c.Source == name })
		if i < 0 && m.Source < 0 && len(out) >= 2*mostSources { // invented names are not bounded otherwise
			return
		}
		if i < 0 {
			i, out = len(out), append(out, Citation{Source: name, Verified: slices.Contains(u.sources, name)})
		}
		out[i].Offsets = append(out[i].Offsets, offsets...)
	}
	for _, m := range citation.Of(text, u.sources, numbered) {
		if cite(m, m.Offset); m.Source >= 0 {
			u.task.Log(messages.LogDebug, fmt.Sprintf("the answer cites %s at byte %d", u.sources[m.Source], m.Offset))
		}
	}
	for _, name := range listed {
		for _, m := range citation.Listed(name, u.sources, numbered) {
			cite(m)
		}
	}
	return out
}
