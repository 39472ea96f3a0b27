package prose

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceRunes bounds the result of Sentence.
const SentenceRunes = 200

const (
	summaryRunes = 320 // length of a summary
	proseRunes   = 24  // length of the shortest text that can say what something is
)

// Tidy joins text into one line with single spaces.
func Tidy(s string) string {
	if isTidy(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isTidy is a quick check whether Tidy has nothing to do.
func isTidy(s string) bool {
	space := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7F || s[i] == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return !space || s == ""
}

// Is reports whether the text is a sentence about something, rather than a label, lead-in or marker.
func Is(s string) bool {
	if length(s) < proseRunes || strings.HasSuffix(s, ":") {
		return false
	}
	s = strings.TrimLeft(s, "/#*; ")
	if StartsWithAny(s, "[!", ":::", "{", "|", "<", "Table of Contents", "Copyright", "SPDX-") {
		return false
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return 2*letters > utf8.RuneCountInString(s) && (len(strings.Fields(s)) >= 4 || !isLatin(s))
}

// length counts characters. A character that is a syllable or a word counts as two.
func length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n++
		}
	}
	return n
}

// isLatin reports whether the text's script puts spaces between words.
func isLatin(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	})
}

// Sentence returns the first sentence of a paragraph. A long one is cut after a word.
func Sentence(s string) string {
	s = Tidy(s)
	return Shorten(s[:SentenceEnd(s)], SentenceRunes)
}

// Opening returns as many whole sentences as a summary may have, at most two.
func Opening(s string) string {
	s = Tidy(s)
	end := SentenceEnd(s)
	if next := end + SentenceEnd(s[end:]); utf8.RuneCountInString(s[:next]) <= summaryRunes {
		end = next
	}
	return Shorten(strings.TrimSpace(s[:end]), summaryRunes)
}

// SentenceEnd returns the index after the first full stop that ends a sentence: a capital or nothing follows, and no
// abbreviation, initial or number precedes it. "TODO(name)" begins another sentence.
func SentenceEnd(s string) int {
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			return next
		case '.', '!', '?':
			if n := len(s[next:]) - len(strings.TrimLeft(s[next:], `"')*_`)); next+n == len(s) ||
				endsSentence(s[:i], s[next+n:]) {
				return next + n
			}
		case ' ':
			if i > 0 && strings.HasPrefix(s[next:], "TODO(") {
				return i
			}
		}
	}
	return len(s)
}

// endsSentence reports whether the mark between two texts ends a sentence. after must not be empty.
func endsSentence(before, after string) bool {
	if after[0] != ' ' {
		return false
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	switch strings.ToLower(strings.TrimLeft(word, "(")) {
	case "e.g", "i.e", "vs", "cf", "approx", "resp", "no", "dr", "mr", "mrs", "st", "inc", "":
		return false
	}
	first, size := utf8.DecodeRuneInString(word)
	initial := size == len(word) && unicode.IsUpper(first) // the name of a variable may also be one letter
	item := len(word) < 3 && strings.Trim(word, "0123456789") == ""
	next, _ := utf8.DecodeRuneInString(after[1:])
	return !initial && !item && (!unicode.IsLower(next) || beginsWithCode(after[1:]))
}

// beginsWithCode recognizes an identifier, which keeps its small letter at the beginning of a sentence.
func beginsWithCode(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	return strings.Contains(word, "_") || strings.HasSuffix(word, "()")
}

// Shorten cuts text after a word.
func Shorten(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	cut := string([]rune(s)[:runes-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.-") + "…"
}

// Unescape removes the backslash before punctuation outside of code spans, as Markdown does.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		n := 1
		switch {
		case s[0] == '`':
			n, _ = Backticks(s)
		case escaped.MatchString(s):
			s = s[1:]
		}
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}

var escaped = regexp.MustCompile(`^\\[[:punct:]]`)

// Backticks returns the length of the code span that the text's first backticks begin. If none close it, it returns
// their number.
func Backticks(s string) (n int, closed bool) {
	open := ticks(s)
	for end := open; ; {
		i := strings.IndexByte(s[end:], '`')
		if i < 0 {
			return open, false
		}
		run := ticks(s[end+i:])
		if end += i + run; run == open {
			return end, true
		}
	}
}

func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
