package literal

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	end kind = iota
	word
	number
	str // a string, or a part of a template
	mark
)

// token is a word, a literal or a mark. A template is a row of marks ` and ${ with strings between them.
type token struct {
	kind  kind
	text  string
	pair  int  // of an opening bracket: the index of the one that closes it
	fresh bool // the first of its line
}

var (
	blank   = regexp.MustCompile(`^(?s:\s+|//[^\n]*|/\*.*?(?:\*/|$))+`)
	lexeme  = regexp.MustCompile(`^(?s:([\pL_$][\pL\pN_$]*)|(0x[\da-fA-F]+|\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(=>|\.\.\.|\?\?|\?\.|[=!]==?|[<>]=|&&|\|\||\*\*|\+\+|--|.))`)
	pattern = regexp.MustCompile(`^/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*`)
	escape  = regexp.MustCompile(`(?s)\\(?:u\{([\da-fA-F]+)\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(.))`)
)

const maxPattern = 200 // bytes of a regular expression

type scanner struct {
	text string // that is left
	toks []token
	open []int // indexes of brackets
}

// scan returns the tokens of a program. The last one has kind end.
func scan(text string) []token {
	s := &scanner{text: strings.TrimPrefix(text, "\ufeff")}
	if strings.HasPrefix(s.text, "#!") {
		_, s.text, _ = strings.Cut(s.text, "\n")
	}
	for fresh := true; s.text != ""; {
		gap := blank.FindString(s.text)
		s.text = s.text[len(gap):]
		fresh = fresh || strings.Contains(gap, "\n")
		if from := len(s.toks); s.text != "" {
			s.next()
			s.toks[from].fresh, fresh = fresh, false
		}
	}
	return s.end()
}

// end pairs what is open with the end.
func (s *scanner) end() []token {
	for _, o := range s.open {
		s.toks[o].pair = len(s.toks)
	}
	return append(s.toks, token{})
}

func (s *scanner) next() {
	if s.text[0] == '/' && s.operand() {
		if re := pattern.FindString(s.text[:min(len(s.text), maxPattern)]); re != "" {
			s.add(mark, re, len(re))
			return
		}
	}
	m := lexeme.FindStringSubmatch(s.text)
	switch n := len(m[0]); {
	case m[1] != "":
		s.add(word, m[1], n)
	case m[2] != "":
		s.add(number, m[2], n)
	case m[3] != "":
		s.add(str, unescape(strings.TrimSuffix(m[3][1:], m[3][:1])), n)
	case m[4] == "`":
		s.add(mark, "`", n)
		s.template()
	default:
		s.mark(m[4])
	}
}

// operand reports whether an operand may follow, so that a slash begins a regular expression.
func (s *scanner) operand() bool {
	if len(s.toks) == 0 {
		return true
	}
	last := s.toks[len(s.toks)-1]
	return last.kind == mark && !strings.Contains(")]}`", last.text) || last.kind == word && last.text == "return"
}

func (s *scanner) add(k kind, text string, size int) {
	s.toks = append(s.toks, token{kind: k, text: text})
	s.text = s.text[size:]
}

// mark adds a mark, and pairs brackets.
func (s *scanner) mark(text string) {
	switch text {
	case "(", "[", "{", "${":
		s.open = append(s.open, len(s.toks))
	case ")", "]", "}":
		if last := len(s.open) - 1; last >= 0 {
			opening := &s.toks[s.open[last]]
			opening.pair, s.open = len(s.toks), s.open[:last]
			if opening.text == "${" {
				s.add(mark, text, len(text))
				s.template()
				return
			}
		}
	}
	s.add(mark, text, len(text))
}

// template adds the next string of a template and the mark that ends it.
func (s *scanner) template() {
	n := 0
	for n < len(s.text) && s.text[n] != '`' && !strings.HasPrefix(s.text[n:], "${") {
		if s.text[n] == '\\' && n+1 < len(s.text) {
			n++
		}
		n++
	}
	s.add(str, unescape(s.text[:n]), n)
	if strings.HasPrefix(s.text, "`") {
		s.add(mark, "`", 1)
	} else if s.text != "" {
		s.mark("${")
	}
}

var escapes = strings.NewReplacer("n", "\n", "t", "\t", "r", "\r", "\n", "")

func unescape(text string) string {
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		m := escape.FindStringSubmatch(e)
		if m[4] != "" {
			return escapes.Replace(m[4])
		}
		code, err := strconv.ParseUint(m[1]+m[2]+m[3], 16, 32)
		if err != nil || code > utf8.MaxRune {
			return ""
		}
		return string(rune(code))
	})
}
