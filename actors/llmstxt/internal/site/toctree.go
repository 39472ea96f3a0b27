package site

import (
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// toctree is a directive of Sphinx that lists documents.
type toctree struct {
	options front
	entries []string
}

var (
	rstDirective  = lazyregexp.New(`^\.\. +(?:\w+:)?([\w-]+)::[ \t]*(.*)$`)
	mystDirective = lazyregexp.New("^(`{3,}|~{3,}|:{3,})(?:\\{([\\w-]+)\\})?[ \t]*(.*)$")
	fieldOption   = lazyregexp.New(`^:([\w-]+):[ \t]*(.*)$`)
)

// toctreeScan collects the directives of a document. Included documents count as parts of it, one level deep.
type toctreeScan struct {
	include func(name string) string // the text of a file
	found   []toctree
}

func (s *toctreeScan) lines(lines []string) {
	for len(lines) > 0 {
		line := strings.TrimSpace(lines[0])
		indent := indentOf(lines[0])
		lines = lines[1:]
		rst, myst := rstDirective.FindStringSubmatch(line), mystDirective.FindStringSubmatch(line)
		switch {
		case rst != nil && opaque[rst[1]]:
			body := indented(lines, indent)
			s.directive(rst[1], rst[2], body)
			lines = lines[len(body):]
		case rst != nil:
		case myst != nil && (opaque[myst[2]] || myst[2] == "" && myst[1][0] != ':'): // ":::" ends a fence
			body := fencedLines(lines, myst[1])
			s.directive(myst[2], myst[3], body)
			lines = lines[min(len(body)+1, len(lines)):]
		case strings.HasSuffix(line, "::"):
			lines = lines[len(indented(lines, indent)):]
		}
	}
}

// opaque are the directives whose bodies are no part of the document.
var opaque = map[string]bool{"toctree": true, "nbgallery": true, "nblinkgallery": true, "include": true, "code": true,
	"code-block": true, "code-cell": true, "sourcecode": true, "parsed-literal": true}

func (s *toctreeScan) directive(name, argument string, body []string) {
	switch name {
	case "toctree", "nbgallery", "nblinkgallery":
		s.found = append(s.found, readToctree(body))
	case "include":
		if s.include != nil {
			inner := toctreeScan{}
			inner.lines(strings.Split(s.include(strings.TrimSpace(argument)), "\n"))
			s.found = append(s.found, inner.found...)
		}
	}
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// indented returns the first lines that are blank, or indented by more than n.
func indented(lines []string, n int) []string {
	i := 0
	for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || indentOf(lines[i]) > n) {
		i++
	}
	return lines[:i]
}

// fencedLines returns the lines before the end of a fence.
func fencedLines(lines []string, fence string) []string {
	for i, l := range lines {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, fence) && strings.Trim(l, fence[:1]) == "" {
			return lines[:i]
		}
	}
	return lines
}

func readToctree(body []string) toctree {
	t := toctree{options: front{}}
	if text := strings.TrimLeft(strings.Join(body, "\n"), "\n"); strings.HasPrefix(text, "---\n") {
		t.options = frontMatter(text)
		_, text, _ = strings.Cut(text[4:], "---")
		body = strings.Split(text, "\n")
	}
	for _, line := range body {
		line = strings.TrimSpace(line)
		if m := fieldOption.FindStringSubmatch(line); m != nil && len(t.entries) == 0 {
			t.options[m[1]] = m[2]
		} else if line != "" && line != ".." && !strings.HasPrefix(line, ".. ") {
			t.entries = append(t.entries, line)
		}
	}
	return t
}
