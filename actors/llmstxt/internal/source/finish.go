package source

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/stable"
)

// finish completes what a scanner found, so that it has the properties of every outline.
func finish(o surface.Outline) surface.Outline {
	o.Symbols = stable.DeleteFunc(o.Symbols, func(s surface.Symbol) bool { return s.Name == "" })
	stable.Sort(o.Symbols, func(a, b surface.Symbol) int { return cmp.Compare(a.Line, b.Line) })
	o.Symbols = o.Symbols[:min(len(o.Symbols), surface.MaxSymbols)]
	for i := range o.Symbols {
		s := &o.Symbols[i]
		s.Signature = prose.Shorten(prose.Tidy(s.Signature), surface.SignatureRunes)
		s.Doc = titled(s.Name, s.Doc)
	}
	return o
}

// titled returns a doc that says more than the name that it documents. It is no banner over a part of the file, and
// has lost a leading name and dash.
func titled(name, doc string) string {
	text, framed := prose.TrimFrame(doc)
	if framed && prose.IsBanner(doc) || text == "" {
		return ""
	}
	last := name[strings.LastIndexAny(name, ".:#")+1:]
	for _, dash := range []string{" - ", " -- ", " --- ", " – ", " — "} {
		if before, after, ok := strings.Cut(text, dash); ok && (before == name || before == last ||
			before == last+"()") {
			text = after
		}
	}
	return text
}
