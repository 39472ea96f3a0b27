package llmstxt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// invented returns the first name, number, version or code word of a line that the page does not hold, or "". Plain words
// may be a model's own.
func invented(line, page string) string {
	page = strings.ToLower(page)
	begins := true
	for _, word := range spans.FindAllString(line, -1) {
		bare := strings.Trim(word, ".,;:!?()\"'`’“”«»*")
		bare = strings.TrimSuffix(strings.TrimSuffix(bare, "'s"), "’s")
		if code := strings.Split(word, "`"); len(code) > 2 {
			bare = code[1]
		}
		first := begins
		begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?")
		if bare == "" || !telling(bare, strings.HasPrefix(word, "`")) && !isNumber(bare) || first && isStart(bare) {
			continue
		}
		for part := range strings.FieldsSeq(bare) {
			if !holds(page, strings.ToLower(part)) && !slices.ContainsFunc(numbers[strings.ToLower(part)], func(n string) bool { return holds(page, n) }) {
				return part
			}
		}
	}
	return ""
}

// spans matches code spans and words.
var spans = lazyregexp.New("`[^`]+`\\S*|\\S+")

// telling reports whether a word is a name, a number or code: one that a page must hold.
func telling(word string, code bool) bool {
	if code || strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("_/\\$@#=<>()[]{}", r) }) ||
		strings.HasPrefix(word, "-") || strings.Contains(strings.Trim(word, "."), ".") {
		return true
	}
	return strings.ContainsFunc(word, unicode.IsUpper)
}

func isNumber(word string) bool { return numbers[strings.ToLower(word)] != nil }

// numbers are words for numbers, with their digits.
var numbers = map[string][]string{"two": {"2"}, "three": {"3"}, "four": {"4"}, "five": {"5"}, "six": {"6"}, "seven": {"7"}, "eight": {"8"},
	"nine": {"9"}, "ten": {"10"}, "eleven": {"11"}, "twelve": {"12"}, "hundred": {"100"}, "thousand": {"1000", "1,000"}, "million": {"1000000", "1,000,000"}}

// isStart reports whether a word with a capital begins sentences, rather than being a name: no other letter is capital,
// and it is a frequent word, or the verb of a description.
func isStart(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	low := strings.ToLower(word)
	return word[size:] == low[size:] && (slices.Contains(emptyWords, low) || starts.MatchString(low))
}

var starts = lazyregexp.New(`^(an?|is|in|of|on|to|as|at|by|if|it|its|or|we|us|does|has|offers|explains?|shows?|describes?|lists?|tells?|defines?|covers?|documents?|introduces?|gives?|` +
	`provides?|contains?|holds?|implements?|names|parses?|configures?|sets?|says|teaches|walks|compares?|answers?|collects?|outlines?|starts?|runs?|builds?|` +
	`reads?|writes?|details?|states?|maps?|makes|creates?|adds?|uses?|mounts?|grows|turns?|checks?|tests?|handles?|summari[sz]es|presents?|specifies|demonstrates?|` +
	`needs?|takes?|works?|keeps?|loads?|helps?|lets|supports?|returns?|converts?|generates?|manages?|calls?|sends?|gets?|puts?|stores?|validates?|renders?|wraps?|` +
	`exposes?|registers?|serves?|opens?|finds?|fetch(es)?|includes?|allows?|enables?|controls?|formats?|prints?|selects?|installs?|deploys?|connects?|draws?|compiles?|declares?|infers?|removes?|resolves?|computes?|encodes?|decodes?|merges?|tracks?|\w+ing|` +
	`guides?|reference|overview|page|file|notes?|steps?|instructions|examples?|settings|options|functions?|classes|types|helpers?|tools?|commands?|library|code|main|entry|project)$`)

// holds reports whether the page holds the text as a separate word, or its plural.
func holds(page, text string) bool {
	for pos := 0; ; pos++ {
		i := strings.Index(page[pos:], text)
		if i < 0 {
			break
		}
		pos += i
		rest := page[pos+len(text):]
		before, _ := utf8.DecodeLastRuneInString(page[:pos])
		after, _ := utf8.DecodeRuneInString(rest)
		if !continues(before, text) && (!continues(after, text) || after == 's' || strings.HasPrefix(rest, "es")) {
			return true
		}
	}
	return strings.HasSuffix(text, "s") && len(text) > 3 && holds(page, strings.TrimSuffix(text, "s"))
}

// continues reports whether a character beside the text belongs to the same word, or to the same number.
func continues(r rune, text string) bool {
	digit := text[0] >= '0' && text[0] <= '9'
	return unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsDigit(r) || r == '_' || digit && (r == '.' || r == ',')
}
