package surface

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
)

// Limits of one file. Text and symbols beyond them are not read.
const (
	MaxBytes       = 1 << 20
	MaxSymbols     = 2000
	SignatureRunes = 200
)

// Kind is the kind of a symbol.
type Kind string

// Kinds of symbols. A property is a variable. A class, struct, enum, trait or interface is a type.
const (
	Function Kind = "function"
	Method   Kind = "method"
	Type     Kind = "type"
	Constant Kind = "constant"
	Variable Kind = "variable"
	Macro    Kind = "macro"
	Module   Kind = "module"
	Command  Kind = "command"
)

// Symbol is one exported name.
type Symbol struct {
	Name      string // as others use it: "Server.Start" for a method of Server
	Kind      Kind
	Signature string // as declared, on one line, without body; at most 200 runes
	Doc       string // first sentence of its documentation; may be ""
	File      string // path of the file; only set in Go packages
	Line      int    // from 1
}

// Outline is the public surface of one file or package.
type Outline struct {
	Doc     string   // description at the top of a module, as plain text; may be ""
	Symbols []Symbol // exported symbols, in the order of their lines
}

// Normal removes irrelevant differences between texts before scanning.
func Normal(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	text = text[:min(len(text), MaxBytes)]
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}

// Finish completes what a scanner found, so that it has the properties of every outline.
func Finish(o Outline) Outline {
	o.Symbols = slices.DeleteFunc(o.Symbols, func(s Symbol) bool { return s.Name == "" })
	slices.SortStableFunc(o.Symbols, func(a, b Symbol) int { return cmp.Compare(a.Line, b.Line) })
	o.Symbols = o.Symbols[:min(len(o.Symbols), MaxSymbols)]
	for i := range o.Symbols {
		s := &o.Symbols[i]
		s.Signature = prose.Shorten(prose.Tidy(s.Signature), SignatureRunes)
		s.Doc = titled(s.Name, s.Doc)
	}
	return o
}

// Summary returns the first sentence of a documentation comment without comment marks, or the first that says
// something by itself. It removes markup other than Markdown.
func Summary(doc string) string {
	paragraph := Inline(firstParagraph(doc))
	first := prose.Sentence(paragraph)
	if strings.HasSuffix(first, "?") {
		return cmp.Or(prose.Informative(paragraph), first)
	}
	return first
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

// firstParagraph returns the text before the first blank line, tag or list of arguments. Prose is preferred to a
// heading or code above it. A doc with nothing but the returned value yields that.
func firstParagraph(doc string) string {
	var p paragraph
	for lines := dedent(doc); len(lines) > 0 && !p.line(lines[0]); lines = lines[1:] {
	}
	return cmp.Or(strings.Join(p.kept, " "), p.returned, p.heading, p.code)
}

type paragraph struct {
	kept                    []string
	heading, returned, code string
	aside                   bool // inside the body of a directive
}

// line reads the next line, and reports whether the paragraph is over.
func (p *paragraph) line(line string) bool {
	text := strings.TrimLeft(line, " ")
	indented := len(text) < len(line)
	p.aside = isDirective(text) || p.aside && (indented || text == "")
	switch {
	case p.aside:
		return len(p.kept) > 0
	case isHeading(text):
		return len(p.kept) > 0
	case isRule(text):
		if len(p.kept) == 1 {
			p.heading, p.kept = p.kept[0], nil
		}
	case text == "" || isTag(text):
		p.returned = cmp.Or(p.returned, returns(text))
		return len(p.kept) > 0
	case prose.StartsWithAny(text, ">>>", "```", "iex>"):
		return true
	case len(p.kept) == 0 && strings.HasPrefix(line, "  "):
		p.code = cmp.Or(p.code, text)
	case p.returned != "":
		return true
	default:
		p.kept = append(p.kept, text)
	}
	return false
}

// isHeading recognizes "## Structure".
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	return len(text) < len(line) && strings.HasPrefix(text, " ")
}

// isRule recognizes the lines that frame a heading or a comment.
func isRule(line string) bool {
	if len(line) < 3 || unicode.IsLetter(rune(line[0])) || line[0] >= 0x80 || unicode.IsDigit(rune(line[0])) {
		return false
	}
	return strings.Trim(line, line[:1]) == ""
}

func isDirective(line string) bool {
	return prose.StartsWithAny(line, ".. ", "@!", ":call-seq:", "call-seq:", "!!! ")
}

// isTag recognizes lines such as "@param x", ":param x:" and "Args:".
func isTag(line string) bool { return tagLine.MatchString(line) }

var tagLine = regexp.MustCompile("^(?:@[a-z]|:[a-z](?:[^:]*[^: ])?:(?:[^`]|$)|(?:Args|Arguments|Parameters|Returns?|Yields|" +
	"Raises|Examples?|Attributes|Globals|Outputs|Usage|Notes?|Options):$)")

// returns returns the text of a line about the returned value.
func returns(line string) string {
	for _, tag := range []string{"@return ", "@returns ", ":return:", ":returns:"} {
		if text, ok := strings.CutPrefix(line, tag); ok {
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "[") {
				_, text, _ = strings.Cut(text, "]")
			}
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// dedent removes the common indentation of the lines. The first line of a docstring follows the quotes and does not
// count.
func dedent(doc string) []string {
	lines := strings.Split(strings.ReplaceAll(doc, "\t", "    "), "\n")
	least := -1
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if text != "" && (i > 0 || len(text) < len(line)) && (least < 0 || len(line)-len(text) < least) {
			least = len(line) - len(text)
		}
	}
	for i, line := range lines {
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = strings.TrimRight(line[min(max(least, 0), spaces):], " ")
	}
	return lines
}
