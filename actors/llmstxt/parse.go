package llmstxt

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Parse parses an llms.txt, strictly. It always returns what it could parse, and the problems in the order of their
// lines: where the text violates the format, and where parsers in use are known to lose or misread it. All of them read
// a text without problems in the same way. Parse shares no code with what writes our own files.
// It skips the comment by which a run remembers what it has offered.
func Parse(text string) (*Txt, []Problem) {
	text, _ = cutMemory(text)
	p := &parser{doc: &Txt{}, sections: make(map[string]bool)}
	if text != "" && (!strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n")) {
		p.line = strings.Count(text, "\n") + 1
		p.problem(ruleLineEnd, "the text does not end with exactly one line feed; end the last line with one")
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		p.line = i + 1
		p.characters(line)
		p.read(strings.TrimRight(line, "\r"))
	}
	p.finish()
	stable.Sort(p.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p.doc, p.problems
}

// parser holds the state of a Parse.
type parser struct {
	doc      *Txt
	problems []Problem
	line     int
	sections map[string]bool // names in lower case

	titled  bool // the H1 was parsed
	quoted  bool // the summary was parsed
	details []string
	fence   string // fence around the current details
	prose   bool   // the line before belonged to a paragraph
}

func (p *parser) problem(rule Rule, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: p.line, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// read gives a line to the part of the document that it belongs to. Within a fence of the details nothing is a heading.
func (p *parser) read(line string) {
	level, rest := heading(line)
	inSection := len(p.doc.Sections) > 0
	switch {
	case p.fence != "" && !inSection:
		p.detail(line)
	case !p.titled:
		p.title(level, rest, line)
	case level == 1:
		p.problem(ruleTitleUnique, "a second H1: readers expect one, the name; begin sections with ##")
	case level == 2:
		if line[0] != '#' {
			p.problem(ruleHeadingLevel, "an indented heading: some readers lose the section; begin the line with ##")
		}
		p.section(rest)
	case level > 2:
		p.problem(ruleHeadingLevel, "a heading of level %d: readers stop or lose the links below it; begin sections with ##", level)
	case inSection:
		p.item(line)
	default:
		p.preamble(line)
	}
}

// heading returns the level of an ATX heading and its text, or 0. An indented or quoted mark counts too, because some
// parsers accept it.
func heading(line string) (level int, text string) {
	line = strings.TrimLeft(line, " \t")
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	if marks == 0 || marks > 6 {
		return 0, ""
	}
	rest := line[marks:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return marks, prose.Unescape(strings.TrimSpace(rest))
}

// title reads the first line. A faulty H1 is a problem, but still gives the title.
func (p *parser) title(level int, rest, line string) {
	p.titled = true
	if level != 1 || !strings.HasPrefix(line, "# ") || rest == "" {
		p.problem(ruleTitleFirst, "the first line is not an H1 with a name; begin with # and the name")
		if level != 1 {
			return
		}
	}
	p.doc.Title = rest
}

// preamble parses what is between the title and the first section.
func (p *parser) preamble(line string) {
	quote, quoted := strings.CutPrefix(strings.TrimLeft(line, " "), ">")
	detailed := strings.TrimSpace(strings.Join(p.details, "")) != ""
	switch {
	case !quoted:
		p.detail(line)
	case p.quoted || detailed:
		p.problem(ruleSummaryLine, "a quotation that is not the summary's one line: readers lose it; join the summary into one line")
		if !detailed {
			p.doc.Summary = strings.TrimSpace(p.doc.Summary + " " + prose.Unescape(strings.TrimSpace(quote)))
		}
	default:
		p.quoted = true
		p.summary(strings.TrimSpace(quote))
	}
}

func (p *parser) summary(quote string) {
	if level, _ := heading(quote); level > 0 {
		p.problem(ruleHeadingLevel, "a heading in the summary: readers lose the summary; take the # away")
	}
	if quote == "" {
		p.problem(ruleSummaryLine, "an empty summary; say in a sentence what this is")
	}
	p.doc.Summary = prose.Unescape(quote)
}

// detail keeps a line between the title and the first section, and finds fences and headings that are underlined.
func (p *parser) detail(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case p.fence != "":
		if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]) == "" {
			p.fence = ""
		}
	case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
		p.fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
	case p.prose && trimmed != "" && (strings.Trim(trimmed, "=") == "" || strings.Trim(trimmed, "-") == ""):
		p.problem(ruleHeadingLevel, "a heading made by underlining, which readers do not know; begin it with ##")
	}
	p.prose = trimmed != "" && p.fence == "" && !strings.HasPrefix(line, "- ")
	p.details = append(p.details, line)
}

// section begins a section. Its name must be an XML name, and new without regard to case.
func (p *parser) section(name string) {
	p.closeDetails()
	if !xmlName.MatchString(name) || strings.HasPrefix(strings.ToLower(name), "xml") {
		p.problem(ruleSectionName, "section %q is not a single word that XML can take for a name: llms-ctx.txt of other tools is broken then; use one word", name)
	}
	if low := strings.ToLower(name); p.sections[low] {
		p.problem(ruleSectionUnique, "a second section %q: readers lose the first; join the two", name)
	} else {
		p.sections[low] = true
	}
	p.doc.Sections = append(p.doc.Sections, TxtSection{Name: name})
}

// closeDetails requires details if there is a summary that could be lost.
func (p *parser) closeDetails() {
	if len(p.doc.Sections) > 0 {
		return
	}
	p.doc.Details = strings.TrimSpace(strings.Join(p.details, "\n"))
	if p.quoted && p.doc.Details == "" {
		p.problem(ruleDetails, "nothing stands between the summary and the first section: some readers lose the summary then; add a line")
	}
}

// finish reports what only the end of the text shows.
func (p *parser) finish() {
	if p.fence != "" {
		p.problem(ruleDetails, "a fence is not closed: readers lose what follows; close it")
	}
	p.closeDetails()
}

// item parses a line of a section like the reference parser: the title ends at the first bracket, the URL at the
// first parenthesis.
func (p *parser) item(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	body, ok := strings.CutPrefix(line, "- [")
	if !ok {
		p.problem(ruleLinkItem, "a line that is not a link item: readers stop here; write - [title](url): note")
		return
	}
	title, rest, ok := strings.Cut(body, "](")
	if !ok {
		p.problem(ruleLinkItem, "a link item without a link: readers stop here; write - [title](url): note")
		return
	}
	target, rest, ok := strings.Cut(rest, ")")
	if !ok {
		p.problem(ruleLinkItem, "a link that does not end: readers stop here; close it with )")
		return
	}
	l := TxtLink{Title: prose.Unescape(title), URL: target, Note: p.note(rest), Line: p.line}
	p.linkTitle(title)
	p.linkURL(target)
	s := &p.doc.Sections[len(p.doc.Sections)-1]
	s.Links = append(s.Links, l)
}

// note returns what follows a link, without the colon and the space that must precede it.
func (p *parser) note(rest string) string {
	if rest == "" {
		return ""
	}
	note, ok := strings.CutPrefix(rest, ": ")
	switch {
	case !ok:
		p.problem(ruleLinkItem, "after the link comes neither a colon and a space nor the end: readers lose the note; write - [title](url): note")
	case strings.TrimSpace(note) == "" || note != strings.TrimSpace(note):
		p.problem(ruleLinkNote, "a note that is empty or has space around it; take the colon or the space away")
	}
	return prose.Unescape(strings.TrimSpace(note))
}

// linkTitle checks the title of a link as it is written, with its escapes.
func (p *parser) linkTitle(title string) {
	switch {
	case strings.TrimSpace(title) == "" || title != strings.TrimSpace(title):
		p.problem(ruleLinkTitle, "a title that is empty or has space around it; name the page")
	case strings.ContainsAny(title, "[]"):
		p.problem(ruleLinkTitle, "brackets in the title %q: readers end it at the first; take them away", title)
	case strings.Count(strings.NewReplacer(`\\`, "", "\\`", "").Replace(title), "`")%2 == 1:
		p.problem(ruleLinkTitle, "a single backtick in the title %q can hide the end of the link; add the other", title)
	}
}

// linkURL checks that the URL of a link is encoded, and is http, https or relative.
func (p *parser) linkURL(target string) {
	if target == "" || strings.ContainsAny(target, " ()[]<>\"\\`{}|^") || strings.IndexFunc(target, isNotASCII) >= 0 {
		p.problem(ruleLinkURL, "the URL %q is empty or not encoded: readers end it early; write %%20 for a space, %%28 for (", target)
		return
	}
	u, err := url.Parse(target)
	switch {
	case err != nil:
		p.problem(ruleLinkURL, "the URL %q is malformed; give an http or https URL, or a path", target)
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		p.problem(ruleLinkURL, "the URL %q is neither http, https nor relative; readers cannot follow it", target)
	case u.Scheme != "" && u.Host == "":
		p.problem(ruleLinkURL, "the URL %q has no host; add it", target)
	}
}

func isNotASCII(r rune) bool { return r <= ' ' || r > '~' }

// characters checks the characters of a line. Of those that are invisible, it reports only the first.
func (p *parser) characters(line string) {
	if strings.Contains(line, "\r") {
		p.problem(ruleLineEnd, "a carriage return")
	}
	if !utf8.ValidString(line) {
		p.problem(ruleCharacters, "invalid UTF-8")
	}
	for _, r := range line {
		if r != '\t' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			p.problem(ruleCharacters, "the character %U is not visible", r)
			return
		}
	}
}

// xmlName matches the ASCII subset of XML names, and those that XML reserves.
var xmlName = lazyregexp.New(`^[A-Za-z_][\w.-]*$`)
