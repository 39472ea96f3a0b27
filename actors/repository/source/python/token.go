package python

import (
	"iter"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
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
				i = pyStringEnd(s, i, pyPrefix(s, i), 0)
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

// pyLogicalEnd is how long the logical line is that s begins with, without its line end. No bracket holds a
// definition, so one that seems to was never closed.
func pyLogicalEnd(s string) int {
	depth := 0
	for i := range pyPieces(s) {
		switch s[i] {
		case '\n':
			if depth == 0 || pyDefines(s[i+1:]) {
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

func pyDefines(s string) bool {
	s = strings.TrimLeft(s, " \t")
	if rest, ok := surface.AfterKeyword(s, "async"); ok {
		s = rest
	}
	for _, keyword := range []string{"def", "class"} {
		if rest, ok := surface.AfterKeyword(s, keyword); ok && surface.Identifier(rest) != "" {
			return true
		}
	}
	return false
}

// pyPrefix is the prefix of the string whose quote is at i.
func pyPrefix(s string, i int) string {
	from := i
	for from > 0 && i-from < 3 && surface.IsWord(s[from-1]) {
		from--
	}
	if prefix := strings.ToLower(s[from:i]); len(prefix) <= 2 && strings.Trim(prefix, "rbuft") == "" {
		return prefix
	}
	return ""
}

// pyNesting bounds strings in strings.
const pyNesting = 8

// pyStringEnd is the index after the string whose quote is at i. A string that is not closed ends with its line, one
// of three quotes with the file.
func pyStringEnd(s string, i int, prefix string, level int) int {
	quote := s[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], triple) {
		quote = triple
	}
	formatted := strings.ContainsAny(prefix, "ft") && level < pyNesting
	for i += len(quote); i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			i += 2
		case c == '\n' && len(quote) == 1:
			return i
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case c == '{' && formatted:
			i = pyFieldEnd(s, i, quote, level)
		default:
			i++
		}
	}
	return len(s)
}

// pyFieldEnd is the index after the replacement field whose brace is at i, or after that brace if it is an escaped
// one. The expression of a field may hold strings of the same quotes; what follows its colon is not an expression.
func pyFieldEnd(s string, i int, quote string, level int) int {
	if strings.HasPrefix(s[i:], "{{") {
		return i + 2
	}
	depth, format := 0, false
	for i < len(s) {
		switch c := s[i]; {
		case c == '\n' && len(quote) == 1, format && depth == 1 && strings.HasPrefix(s[i:], quote):
			return i
		case c == '{', c == '(', c == '[':
			depth++
		case c == '}', c == ')', c == ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		case c == ':':
			format = format || depth == 1
		case (c == '\'' || c == '"') && !(format && depth == 1):
			i = pyStringEnd(s, i, pyPrefix(s, i), level+1) - 1
		}
		i++
	}
	return len(s)
}
