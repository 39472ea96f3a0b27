package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is the set of character classes of the encoding's pattern that a rune belongs to.
type class uint8

const (
	upper   class = 1 << iota // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
	lower                     // \p{Ll}\p{Lm}\p{Lo}\p{M}
	letter                    // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // \r\n
)

var ascii = func() (classes [utf8.RuneSelf]class) {
	for r := range classes {
		classes[r] = classify(rune(r))
	}
	return classes
}()

// classify returns the classes of a rune. As in the pattern, marks and letters without case are upper and lower.
func classify(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return space | newline
	case unicode.IsSpace(r):
		return space
	case unicode.IsLower(r):
		return lower | letter
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper | letter
	case unicode.IsLetter(r):
		return upper | lower | letter
	case unicode.IsMark(r):
		return upper | lower
	case unicode.IsNumber(r):
		return number
	}
	return 0
}

// next returns the classes and the size of the first rune. The size is 0 for an empty text.
func next(s string) (class, int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return ascii[s[0]], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	return classify(r), size
}

// run returns the length of the longest prefix whose runes have one of the classes or, with not, none of them.
func run(s string, of class, not bool) int {
	n := 0
	for n < len(s) {
		c, size := class(0), 1
		if s[n] < utf8.RuneSelf {
			c = ascii[s[n]]
		} else {
			c, size = next(s[n:])
		}
		if (c&of != 0) == not {
			break
		}
		n += size
	}
	return n
}

// line returns the length of the text's first line, or of several lines that may share a piece.
func line(s string) int {
	for end := 0; ; {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return len(s)
		}
		if end += i + 1; beginsLine(s[end:]) {
			return end
		}
	}
}

// beginsLine reports whether no piece crosses the newline before s. Pieces that could are spaces up to another
// newline, and punctuation followed by newlines and slashes.
func beginsLine[T string | []byte](s T) bool {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i < len(s) && s[i] > ' ' && s[i] < utf8.RuneSelf && (i > 0 || s[i] != '/')
}

// piece returns the length of the text's first piece, which is not empty: what the pattern of o200k_base matches. Its
// alternatives are, in their order:
//
//	[^\r\n\p{L}\p{N}]?[upper]*[lower]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[upper]+[lower]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func piece(s string) int {
	c, size := next(s)
	lead := size
	if c&(letter|number|newline) != 0 {
		lead = 0
	}
	if n, ok := plainWord(s, lead); ok {
		return n
	}
	if n := word(s, lead); n > 0 {
		return n
	}
	if c&number != 0 {
		return digits(s)
	}
	blank := 0
	if s[0] == ' ' {
		blank = 1
	}
	if n := run(s[blank:], space|letter|number, true); n > 0 {
		n += blank
		return n + len(s[n:]) - len(strings.TrimLeft(s[n:], "\r\n/"))
	}
	return spaces(s)
}

// plainWord is word for a text of ASCII letters: each of them is in one class.
func plainWord(s string, lead int) (n int, ok bool) {
	n = lead
	for _, of := range []class{upper, lower} {
		for n < len(s) && s[n] < utf8.RuneSelf && ascii[s[n]]&of != 0 {
			n++
		}
	}
	if n == lead || n < len(s) && s[n] >= utf8.RuneSelf {
		return 0, false
	}
	return n + contraction(s[n:]), true
}

// word matches the first two alternatives, each with the lead and then without it.
func word(s string, lead int) int {
	for _, match := range []func(string) int{lowered, raised} {
		for pos := lead; ; pos = 0 {
			if n := match(s[pos:]); n > 0 {
				return pos + n + contraction(s[pos+n:])
			}
			if pos == 0 {
				break
			}
		}
	}
	return 0
}

// lowered matches [upper]*[lower]+. A rune in both classes may end the match if no lower one follows.
func lowered(s string) int {
	n, both := 0, 0
	for {
		c, size := next(s[n:])
		if c&upper == 0 {
			break
		}
		if n += size; c&lower != 0 {
			both = n
		}
	}
	if tail := run(s[n:], lower, false); tail > 0 {
		return n + tail
	}
	return both
}

// raised matches [upper]+[lower]*.
func raised(s string) int {
	n := run(s, upper, false)
	if n == 0 {
		return 0
	}
	return n + run(s[n:], lower, false)
}

// contraction returns the length of the 's, 're or the like with which s begins, or 0.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) > 2 {
		switch strings.ToLower(s[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// digits returns the length of up to three digits.
func digits(s string) int {
	n := 0
	for range 3 {
		c, size := next(s[n:])
		if c&number == 0 {
			break
		}
		n += size
	}
	return n
}

// spaces matches the last three alternatives: up to the last newline, or else up to the last space before a word.
func spaces(s string) int {
	n := run(s, space, false)
	if last := strings.LastIndexAny(s[:n], "\r\n"); last >= 0 {
		return last + 1
	}
	if n < len(s) {
		_, size := utf8.DecodeLastRuneInString(s[:n])
		if n > size {
			return n - size
		}
	}
	return n
}
