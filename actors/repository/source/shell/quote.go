package shell

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// quotes follows quotes, expansions and brackets through a line, and keeps the here-documents that begin on it.
func (s *shellFile) quotes(line string) {
	for i := 0; i < len(line); {
		i = s.step(line, i)
	}
}

func (s *shellFile) top() byte {
	if len(s.open) == 0 {
		return 0
	}
	return s.open[len(s.open)-1]
}

func (s *shellFile) push(c byte) { s.open = append(s.open, c) }
func (s *shellFile) pop()        { s.open = s.open[:len(s.open)-1] }

// step takes what is at i and gives the index after it.
func (s *shellFile) step(line string, i int) int {
	c, top := line[i], s.top()
	switch {
	case top == '\'':
		if c == '\'' {
			s.pop()
		}
	case c == '\\':
		return i + 2
	case c == '$' && i+1 < len(line) && strings.IndexByte("({", line[i+1]) >= 0:
		s.push(line[i+1])
		return i + 2
	case top == '"':
		if c == '"' {
			s.pop()
		}
	case c == '"':
		s.push(c)
	case c == '\'' && (top != '{' || len(s.open) < 2 || s.open[len(s.open)-2] != '"'):
		return s.single(line, i)
	case top == '{':
		if c == '}' {
			s.pop()
		}
	default:
		return s.code(line, i)
	}
	return i + 1
}

// single takes a quote that knows escapes only after a dollar.
func (s *shellFile) single(line string, i int) int {
	if i == 0 || line[i-1] != '$' {
		s.push('\'')
		return i + 1
	}
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return len(line)
}

// code takes what is in no quote.
func (s *shellFile) code(line string, i int) int {
	switch c := line[i]; {
	case c == '#' && (i == 0 || strings.IndexByte(" \t;(", line[i-1]) >= 0):
		return len(line)
	case c == '(':
		s.push(c)
	case c == ')' && s.top() == '(':
		s.pop()
	case c == '<' && strings.HasPrefix(line[i:], "<<"):
		return s.document(line, i+2)
	}
	return i + 1
}

// document takes the tag behind "<<".
func (s *shellFile) document(line string, i int) int {
	if strings.HasPrefix(line[i:], "<") {
		return i + 1
	}
	rest, indentation := line[i:], ""
	if strings.HasPrefix(rest, "-") {
		rest, indentation = rest[1:], "\t"
	}
	rest = strings.TrimLeft(rest, " \t")
	quote := ""
	if rest != "" && strings.IndexByte(`'"\`, rest[0]) >= 0 {
		quote, rest = rest[:1], rest[1:]
	}
	n := 0
	for n < len(rest) && (surface.IsWord(rest[n]) || strings.IndexByte("-.!:", rest[n]) >= 0) {
		n++
	}
	if n == 0 || quote == "" && surface.Identifier(rest) == "" {
		return i
	}
	s.ends = append(s.ends, shellEnd{rest[:n], indentation})
	if quote == `'` || quote == `"` {
		n = min(n+1, len(rest))
	}
	return len(line) - len(rest) + n
}

// documents skips the here-documents that began on the line, but for a usage line in them.
func (s *shellFile) documents() {
	for _, end := range s.ends {
		last := s.EndOf(end.tag, end.indentation)
		for s.Next <= last {
			if line := s.Take(); s.Next <= last {
				s.usage(line)
			}
		}
	}
	s.ends = s.ends[:0]
}
