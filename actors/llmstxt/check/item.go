package check

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// item parses a line of a section like the reference parser: the title ends at the first bracket, the URL at the
// first parenthesis.
func (p *parser) item(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	body, ok := strings.CutPrefix(line, "- [")
	if !ok {
		p.problem(LinkItem, "a line that is not a link item: readers stop here; write - [title](url): note")
		return
	}
	title, rest, ok := strings.Cut(body, "](")
	if !ok {
		p.problem(LinkItem, "a link item without a link: readers stop here; write - [title](url): note")
		return
	}
	target, rest, ok := strings.Cut(rest, ")")
	if !ok {
		p.problem(LinkItem, "a link that does not end: readers stop here; close it with )")
		return
	}
	l := Link{Title: prose.Unescape(title), URL: target, Note: p.note(rest), Line: p.line}
	p.linkTitle(title)
	p.linkURL(target)
	s := &p.doc.Sections[len(p.doc.Sections)-1]
	s.Links = append(s.Links, l)
}

func (p *parser) note(rest string) string {
	if rest == "" {
		return ""
	}
	note, ok := strings.CutPrefix(rest, ": ")
	switch {
	case !ok:
		p.problem(LinkItem, "after the link comes neither a colon and a space nor the end: readers lose the note; write - [title](url): note")
	case strings.TrimSpace(note) == "" || note != strings.TrimSpace(note):
		p.problem(LinkNote, "a note that is empty or has space around it; take the colon or the space away")
	}
	return prose.Unescape(strings.TrimSpace(note))
}

func (p *parser) linkTitle(title string) {
	switch {
	case strings.TrimSpace(title) == "" || title != strings.TrimSpace(title):
		p.problem(LinkTitle, "a title that is empty or has space around it; name the page")
	case strings.ContainsAny(title, "[]"):
		p.problem(LinkTitle, "brackets in the title %q: readers end it at the first; take them away", title)
	case strings.Count(strings.NewReplacer(`\\`, "", "\\`", "").Replace(title), "`")%2 == 1:
		p.problem(LinkTitle, "a single backtick in the title %q can hide the end of the link; add the other", title)
	}
}

func (p *parser) linkURL(target string) {
	if target == "" || strings.ContainsAny(target, " ()[]<>\"\\`{}|^") || strings.IndexFunc(target, isNotASCII) >= 0 {
		p.problem(LinkURL, "the URL %q is empty or not encoded: readers end it early; write %%20 for a space, %%28 for (", target)
		return
	}
	u, err := url.Parse(target)
	switch {
	case err != nil:
		p.problem(LinkURL, "the URL %q is malformed; give an http or https URL, or a path", target)
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		p.problem(LinkURL, "the URL %q is neither http, https nor relative; readers cannot follow it", target)
	case u.Scheme != "" && u.Host == "":
		p.problem(LinkURL, "the URL %q has no host; add it", target)
	}
}

func isNotASCII(r rune) bool { return r <= ' ' || r > '~' }

func (p *parser) characters(line string) {
	if strings.Contains(line, "\r") {
		p.problem(LineEnd, "a carriage return")
	}
	if !utf8.ValidString(line) {
		p.problem(Characters, "invalid UTF-8")
	}
	for _, r := range line {
		if r != '\t' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			p.problem(Characters, "the character %U is not visible", r)
			return
		}
	}
}

// xmlName matches the ASCII subset of XML names, and those that XML reserves.
var xmlName = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)
