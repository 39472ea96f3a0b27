package sanitize

import (
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/internal/secret"
	"github.com/seed889630bf/lastword/internal/words"
)

// Liner returns a function that makes a single clean line, without secrets, of any text. It is for one goroutine at a
// time.
func Liner() func(s string) string {
	f := secret.NewFinder()
	return func(s string) string { return Line(string(f.Redact([]byte(Line(s)), nil))) }
}

// Line makes a single line of visible text. It removes terminal escapes and control, format (bidirectional,
// zero-width, tag) and private characters, and collapses white space.
func Line(s string) string {
	if isCleanASCII(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !isVisible(r):
			return -1
		}
		return r
	}, words.WithoutEscapes(strings.ToValidUTF8(s, "\uFFFD")))
	return strings.Join(strings.Fields(s), " ")
}

// isCleanASCII recognizes most lines, which need no change.
func isCleanASCII(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return s == "" || last != ' '
}

// isVisible reports whether a character may stay. It refuses code points that are not characters, and variation
// selectors beyond the first sixteen: they show nothing and can carry text that only a model sees.
func isVisible(r rune) bool {
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) &&
		(r < 0xE0100 || r > 0xE01EF) && r&0xFFFE != 0xFFFE
}
