package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// Parse parses a text. It always returns a document, as far as the text can be parsed, and the problems in the order
// of their lines.
func Parse(text string) (*Document, []Problem) {
	p := &parser{doc: &Document{}, sections: make(map[string]bool)}
	if text != "" && (!strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n")) {
		p.line = strings.Count(text, "\n") + 1
		p.problem(LineEnd, "the text does not end with exactly one line feed; end the last line with one")
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		p.line = i + 1
		p.characters(line)
		p.read(strings.TrimRight(line, "\r"))
	}
	p.finish()
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p.doc, p.problems
}

// parser holds the state of a Parse.
type parser struct {
	doc      *Document
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

func (p *parser) read(line string) {
	level, rest := heading(line)
	inSection := len(p.doc.Sections) > 0
	switch {
	case p.fence != "" && !inSection:
		p.detail(line)
	case !p.titled:
		p.title(level, rest, line)
	case level == 1:
		p.problem(TitleUnique, "a second H1: readers expect one, the name; begin sections with ##")
	case level == 2:
		if line[0] != '#' {
			p.problem(HeadingLevel, "an indented heading: some readers lose the section; begin the line with ##")
		}
		p.section(rest)
	case level > 2:
		p.problem(HeadingLevel, "a heading of level %d: readers stop or lose the links below it; begin sections with ##", level)
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

func (p *parser) title(level int, rest, line string) {
	p.titled = true
	if level != 1 || !strings.HasPrefix(line, "# ") || rest == "" {
		p.problem(TitleFirst, "the first line is not an H1 with a name; begin with # and the name")
		if level != 1 {
			return
		}
	}
	p.doc.Title = rest
}

// preamble parses what is between the title and the first section.
func (p *parser) preamble(line string) {
	quote, quoted := strings.CutPrefix(strings.TrimLeft(line, " "), ">")
	switch {
	case !quoted:
		p.detail(line)
	case p.quoted || len(p.details) > 0 && strings.TrimSpace(strings.Join(p.details, "")) != "":
		p.problem(SummaryLine, "a quotation that is not the summary's one line: readers lose it; join the summary into one line")
	default:
		p.quoted = true
		p.summary(strings.TrimSpace(quote))
	}
}

func (p *parser) summary(quote string) {
	if level, _ := heading(quote); level > 0 {
		p.problem(HeadingLevel, "a heading in the summary: readers lose the summary; take the # away")
	}
	if quote == "" {
		p.problem(SummaryLine, "an empty summary; say in a sentence what this is")
	}
	p.doc.Summary = prose.Unescape(quote)
}

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
		p.problem(HeadingLevel, "a heading made by underlining, which readers do not know; begin it with ##")
	}
	p.prose = trimmed != "" && p.fence == "" && !strings.HasPrefix(line, "- ")
	p.details = append(p.details, line)
}

func (p *parser) section(name string) {
	p.closeDetails()
	if !xmlName.MatchString(name) || strings.HasPrefix(strings.ToLower(name), "xml") {
		p.problem(SectionName, "section %q is not a single word that XML can take for a name: llms-ctx.txt of other tools is broken then; use one word", name)
	}
	if low := strings.ToLower(name); p.sections[low] {
		p.problem(SectionUnique, "a second section %q: readers lose the first; join the two", name)
	} else {
		p.sections[low] = true
	}
	p.doc.Sections = append(p.doc.Sections, Section{Name: name})
}

// closeDetails requires details if there is a summary that could be lost.
func (p *parser) closeDetails() {
	if len(p.doc.Sections) > 0 {
		return
	}
	p.doc.Details = strings.TrimSpace(strings.Join(p.details, "\n"))
	if p.quoted && p.doc.Details == "" {
		p.problem(Details, "nothing stands between the summary and the first section: some readers lose the summary then; add a line")
	}
}

func (p *parser) finish() {
	if !p.titled || p.doc.Title == "" && len(p.problems) == 0 {
		p.line = 1
		p.problem(TitleFirst, "there is no H1; begin with # and the name")
	}
	if p.fence != "" {
		p.problem(Details, "a fence is not closed: readers lose what follows; close it")
	}
	p.closeDetails()
}
