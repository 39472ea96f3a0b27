package python

import (
	"iter"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// pyLine is a logical line: it goes on over brackets, strings and backslashes.
type pyLine struct {
	number int    // of its first line in the file
	indent int    // column
	text   string // verbatim, from its first character on, comments included
}

// pyReader takes logical lines off a file, one after the other.
type pyReader struct {
	text   string
	at     int
	number int // of the line at holds
}

// next gives the next logical line; comments on lines of their own are given, too.
func (r *pyReader) next() (line pyLine, ok bool) {
	for r.at < len(r.text) {
		end := lineEnd(r.text, r.at)
		column, rest := surface.Indentation(r.text[r.at:end])
		if rest == "" {
			r.at = min(end+1, len(r.text))
			r.number++
			continue
		}
		from := end - len(rest)
		line = pyLine{number: r.number, indent: column}
		to := end
		if rest[0] != '#' {
			to = from + pyLogicalEnd(r.text[from:])
		}
		line.text = r.text[from:to]
		r.number += strings.Count(line.text, "\n") + 1
		r.at = min(to+1, len(r.text))
		return line, true
	}
	return pyLine{}, false
}

// lineEnd is the index of the end of the line that at is in.
func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

// pyPieces gives where each piece of code begins and ends: a string without its prefix, a comment, an escape, or
// else one byte.
func pyPieces(s string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(s); {
			from := i
			switch s[i] {
			case '"', '\'':
				i = pyStringEnd(s, i)
			case '#':
				i = lineEnd(s, i)
			case '\\':
				i += 2
			default:
				i++
			}
			if i = min(i, len(s)); !yield(from, i) {
				return
			}
		}
	}
}

var pyDefinition = regexp.MustCompile(`^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+[^\s\d(:]`)

// pyLogicalEnd is how long the logical line is that s begins with, without its line end. No bracket holds a
// definition, so one that seems to was never closed.
func pyLogicalEnd(s string) int {
	depth := 0
	for i := range pyPieces(s) {
		switch s[i] {
		case '\n':
			if depth == 0 || pyDefinition.MatchString(s[i+1:]) {
				return i
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return len(s)
}

// pyStringEnd is the index after the string whose quote is at i. A string that is not closed ends with its line, one
// of three quotes with the file. Quotes in the fields of a formatted string come in pairs.
func pyStringEnd(s string, i int) int {
	quote := s[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case c == '\n' && len(quote) == 1:
			return i
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		default:
			i++
		}
	}
	return len(s)
}
