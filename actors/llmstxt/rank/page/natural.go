package page

import (
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
)

type languageCounts struct {
	words  map[string]int
	script map[string]int
	letter int
}

// count looks at the small words, which no text avoids, and at the scripts.
func (c *languageCounts) count(line string) {
	if c.letter > 4000 {
		return
	}
	if c.words == nil {
		c.words, c.script = make(map[string]int), make(map[string]int)
	}
	for w := range strings.FieldsSeq(line) {
		c.words[smallWords[strings.ToLower(strings.Trim(w, ".,:;!?()\""))]]++
	}
	for _, r := range line {
		script := ""
		if r >= 0x80 {
			script = scriptOf(r)
		}
		if script != "" {
			c.script[script]++
		}
		if script != "" || r >= 'a' && r <= 'z' {
			c.letter++
		}
	}
}

// alphabets are the languages that are told by their letters; the first that has a letter counts.
var alphabets = []struct {
	language string
	table    *unicode.RangeTable
}{
	{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"zh", unicode.Han}, {"ko", unicode.Hangul},
	{"cyrillic", unicode.Cyrillic}, {"ar", unicode.Arabic}, {"hi", unicode.Devanagari}, {"el", unicode.Greek},
	{"he", unicode.Hebrew}, {"th", unicode.Thai},
}

func scriptOf(r rune) string {
	for _, s := range alphabets {
		if unicode.Is(s.table, r) {
			return s.language
		}
	}
	return ""
}

// smallWords are those that no text avoids, each with its language.
var smallWords = words.Table("languages")

// NaturalLanguage is "" where too little speaks for any.
func (c *languageCounts) naturalLanguage() string {
	scripts := 0
	best, most := "", 0
	for s, n := range c.script {
		scripts += n
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	if 5*scripts > c.letter && scripts > 20 {
		if 20*c.script["ja"] > scripts {
			return "ja"
		}
		return best
	}
	best, most = "", 0
	for t, n := range c.words {
		if t != "" && (n > most || n == most && t < best) {
			best, most = t, n
		}
	}
	if most < 6 {
		return ""
	}
	return best
}
