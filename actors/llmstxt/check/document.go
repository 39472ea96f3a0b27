package check

import "fmt"

// Document is the content of an llms.txt with escapes resolved.
type Document struct {
	Title    string
	Summary  string
	Details  string // Markdown between the summary and the first section
	Sections []Section
}

// Section is one H2 with its links.
type Section struct {
	Name  string
	Links []Link
}

// Link is one list item of a section.
type Link struct {
	Title, URL, Note string
	Line             int // from 1
}

// Problem is one violation in a text.
type Problem struct {
	Line    int // from 1
	Rule    Rule
	Message string
}

func (p Problem) String() string {
	return fmt.Sprintf("%d: %s (%s)", p.Line, p.Message, p.Rule)
}

// Severity distinguishes what breaks the format or a reader in use (Error) from what only loses or blurs something
// (Warning).
type Severity string

const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Rule names the rule that a problem violates.
type Rule string

// Severity returns the severity of the problem's rule.
func (p Problem) Severity() Severity {
	switch p.Rule {
	case SummaryLine, Details, SectionName, LinkNote, LineEnd:
		return Warning
	}
	return Error
}

// Strict reports whether only some readers lose something if the rule is violated.
func (r Rule) Strict() bool { return r == Details || r == SectionName }

const (
	TitleFirst    Rule = "title-first"    // the first line is the only H1
	TitleUnique   Rule = "title-unique"   // there is no second H1
	SummaryLine   Rule = "summary-line"   // the summary is one line of one blockquote
	Details       Rule = "details"        // something stands before the first section, else the summary is lost
	HeadingLevel  Rule = "heading-level"  // no headings but the H1 and the sections' H2
	SectionName   Rule = "section-name"   // one word that is an XML name
	SectionUnique Rule = "section-unique" // a later section replaces an earlier one
	LinkItem      Rule = "link-item"      // nothing but "- [title](url): note" in a section
	LinkTitle     Rule = "link-title"     // not empty, no brackets
	LinkURL       Rule = "link-url"       // http, https or relative; encoded
	LinkNote      Rule = "link-note"      // not empty after its colon
	LineEnd       Rule = "line-end"       // LF alone, and one at the end
	Fence         Rule = "fence"          // closed
	Characters    Rule = "characters"     // valid UTF-8 without control or invisible characters
)
