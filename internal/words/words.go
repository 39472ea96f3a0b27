package words

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Examples has values of formats of JSON Schema that people often miss.
var Examples = map[string]string{"date": "2030-12-31", "time": "23:59:00Z", "date-time": "2030-12-31T23:59:00Z", "duration": "PT1H30M"}

// Clip returns the text, or the first most bytes of a longer text and an ellipsis. It never splits a character.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// Visible returns the text with every invisible character in its JSON escape, such as \u202e. Spaces, tabs and line
// breaks stay.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', isVisible(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Unbroken returns JSON with U+0085 in its escape, because some readers of lines take it for the end of one. JSON of
// encoding/json has no other such character.
func Unbroken(json []byte) []byte {
	if bytes.Contains(json, nextLine) {
		return bytes.ReplaceAll(json, nextLine, []byte(`\u0085`))
	}
	return json
}

var nextLine = []byte("\u0085")

// isVisible reports whether the character is printed or a space, and does not change the direction of writing.
func isVisible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// escapes matches how a terminal is told of a color, a title and the like. What a title says is none of it: a reader sees
// all words of a text.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\x1b]|\u009d)(?:[0-9]+;)?|\x1b(?:[()][0AB]|[\\\\=>78])")

// WithoutEscapes removes the escape sequences of terminals.
func WithoutEscapes(text string) string {
	if !strings.ContainsAny(text, "\x1b\u009b\u009d") {
		return text
	}
	return escapes.ReplaceAllString(text, "")
}

// Printable removes escape sequences, and control, bidi, zero-width and other invisible characters, which could control
// the terminal. A line break becomes a space.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return ' '
		case r == '\t' || isVisible(r):
			return r
		}
		return -1
	}, WithoutEscapes(text))
}

// WithoutControls removes what could control a terminal: escape sequences, control characters except line breaks and tabs,
// and characters that change the direction of writing. Unlike Printable it keeps the joiners of scripts and emoji.
func WithoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r): // as messages.Steers says
			return -1
		}
		return r
	}, WithoutEscapes(text))
}

// OneLine removes escape sequences, and replaces every line break, and every other character that is not printable, by a
// space.
func OneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, WithoutEscapes(strings.ToValidUTF8(text, ""))))
}

// SortNatural sorts names by the numbers in them: step2 comes before step10.
func SortNatural(names []string) {
	sort.SliceStable(names, func(i, j int) bool { return before(names[i], names[j]) })
}

func before(a, b string) bool {
	n := Common(a, b)
	n = len(strings.TrimRight(a[:n], digits))
	x, y := strings.TrimLeft(a[n:], digits), strings.TrimLeft(b[n:], digits)
	if p, q := len(a)-n-len(x), len(b)-n-len(y); p != q && p > 0 && q > 0 {
		return p < q
	}
	return a < b
}

// Keys returns the names in their natural order.
func Keys(of iter.Seq[string]) []string {
	names := slices.Collect(of)
	SortNatural(names)
	return names
}

const digits = "0123456789"

// Meant returns the end of a sentence about a name that is not in the list: the most similar name, or all names.
func Meant(name string, of []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, one := range of {
		if d := Distance(one, name); d < min(least, len(name)) {
			best, least = one, d
		}
	}
	switch {
	case best != "":
		return "; did you mean " + best + "?"
	case len(of) == 0:
		return "; there is none"
	case len(of) == 1:
		return "; there is " + of[0]
	}
	return "; there are " + strings.Join(of, ", ")
}

// Distance returns the edit distance (Levenshtein) of two names, in bytes.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Count formats a number with its noun, in the plural if needed.
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(int64(n)) + " " + thing + "s"
}

// Thousands formats a number with commas between groups of three digits.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Size formats a number of bytes with a decimal unit.
func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// Limit formats a limit in bytes.
func Limit(bytes int64) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// Common returns the length of what both texts begin with, in whole characters.
func Common[A, B string | []byte](a A, b B) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}
