package llmstxt

import "fmt"

// Txt is the content of an llms.txt with escapes resolved.
type Txt struct {
	Title    string
	Summary  string
	Details  string // Markdown between the summary and the first section
	Sections []TxtSection
}

// TxtSection is one H2 with its links.
type TxtSection struct {
	Name  string
	Links []TxtLink
}

// TxtLink is one list item of a section.
type TxtLink struct {
	Title, URL, Note string
	Line             int // from 1
}

// Links returns the links of all sections.
func (t *Txt) Links() (all []TxtLink) {
	for _, s := range t.Sections {
		all = append(all, s.Links...)
	}
	return all
}

// Problem is one violation in a text.
type Problem struct {
	Line    int // from 1
	Rule    Rule
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("%d: %s (%s)", p.Line, p.Message, p.Rule) }

// Severity distinguishes what breaks the format or a reader in use ([SeverityError]) from what only loses or blurs something
// ([SeverityWarning]).
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Rule names the rule that a problem violates.
type Rule string

// Severity returns the severity of the problem's rule.
func (p Problem) Severity() Severity {
	switch p.Rule {
	case ruleSummaryLine, ruleDetails, ruleSectionName, ruleLinkNote, ruleLineEnd:
		return SeverityWarning
	}
	return SeverityError
}

// Strict reports whether only some readers lose something if the rule is violated.
func (r Rule) Strict() bool { return r == ruleDetails || r == ruleSectionName }

const (
	ruleTitleFirst    Rule = "title-first"    // the first line is the only H1
	ruleTitleUnique   Rule = "title-unique"   // there is no second H1
	ruleSummaryLine   Rule = "summary-line"   // the summary is one line of one blockquote
	ruleDetails       Rule = "details"        // something stands before the first section, else the summary is lost
	ruleHeadingLevel  Rule = "heading-level"  // no headings but the H1 and the sections' H2
	ruleSectionName   Rule = "section-name"   // one word that is an XML name
	ruleSectionUnique Rule = "section-unique" // a later section replaces an earlier one
	ruleLinkItem      Rule = "link-item"      // nothing but "- [title](url): note" in a section
	ruleLinkTitle     Rule = "link-title"     // not empty, no brackets
	ruleLinkURL       Rule = "link-url"       // http, https or relative; encoded
	ruleLinkNote      Rule = "link-note"      // not empty after its colon
	ruleLineEnd       Rule = "line-end"       // LF alone, and one at the end
	ruleFence         Rule = "fence"          // closed
	ruleCharacters    Rule = "characters"     // valid UTF-8 without control or invisible characters
)
