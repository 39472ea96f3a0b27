package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	sentenceRunes = 200 // of a note
	summaryRunes  = 320 // of the summary
	proseRunes    = 24  // the least that can say what something is
)

// tidy puts text on one line with single spaces.
func tidy(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

// isProse tells a sentence about something from labels, lead-ins and markers.
func isProse(s string) bool {
	if utf8.RuneCountInString(s) < proseRunes || strings.HasSuffix(s, ":") {
		return false
	}
	s = strings.TrimLeft(s, "/#*; ")
	for _, marker := range []string{"[!", ":::", "{", "|", "<", "Table of Contents", "Copyright", "SPDX-"} {
		if strings.HasPrefix(s, marker) {
			return false
		}
	}
	letters, words := 0, 0
	for w := range strings.FieldsSeq(s) {
		words++
		for _, r := range w {
			if unicode.IsLetter(r) {
				letters++
			}
		}
	}
	return 2*letters > len([]rune(s)) && (words >= 4 || !isLatin(s))
}

// isLatin tells scripts that put spaces between words from those that do not.
func isLatin(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			return false
		}
	}
	return true
}

// isAside tells the headings below which a README does not say what it is.
func isAside(heading string) bool {
	low := strings.ToLower(heading)
	for _, word := range []string{"install", "table of contents", "contents", "license", "licence", "contribut", "sponsor",
		"backers", "badge", "status", "acknowledg", "thanks", "changelog", "download", "support", "community", "requirements",
		"prerequisite", "getting started", "quickstart", "quick start", "usage", "disclaimer", "news", "announcement"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// sentence is the first sentence of a paragraph, cut at a word if it is long.
func sentence(s string) string {
	s = tidy(s)
	return shorten(s[:sentenceEnd(s)], sentenceRunes)
}

// opening is as many whole sentences as a summary holds, but two at most.
func opening(s string) string {
	s = tidy(s)
	end := sentenceEnd(s)
	if next := end + sentenceEnd(s[end:]); utf8.RuneCountInString(s[:next]) <= summaryRunes {
		end = next
	}
	return shorten(strings.TrimSpace(s[:end]), summaryRunes)
}

// sentenceEnd is the index after the first full stop that ends a sentence: a
// capital or nothing follows, and no abbreviation, initial or number precedes.
func sentenceEnd(s string) int {
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			return next
		case '.', '!', '?':
			if next == len(s) || endsSentence(s[:i], s[next:]) {
				return next
			}
		}
	}
	return len(s)
}

func endsSentence(before, after string) bool {
	if after[0] != ' ' {
		return false
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	switch strings.ToLower(strings.TrimLeft(word, "(")) {
	case "e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "no", "dr", "mr", "mrs", "st", "inc", "":
		return false
	}
	next, _ := utf8.DecodeRuneInString(after[1:])
	return utf8.RuneCountInString(word) > 1 && !unicode.IsLower(next)
}

func shorten(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	cut := string([]rune(s)[:runes-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.-") + "…"
}
