package page

import (
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
)

// languageCounts counts, by language, the small words that no text avoids, and the letters of scripts.
type languageCounts struct {
	words, script map[string]int
	letter        int // of whatever script
}

var smallWords, alphabets = words.Table("languages"), words.Table("alphabets")

func (c *languageCounts) count(line string) {
	if c.letter > 4000 {
		return
	}
	if c.words == nil {
		c.words, c.script = make(map[string]int), make(map[string]int)
	}
	for w := range strings.FieldsSeq(line) {
		if language := smallWords[strings.ToLower(strings.Trim(w, ".,:;!?()\""))]; language != "" {
			c.words[language]++
		}
	}
	for _, r := range line {
		if r >= 'a' && r <= 'z' {
			c.letter++
		} else if r >= 0x80 {
			c.countScript(r)
		}
	}
}

func (c *languageCounts) countScript(r rune) {
	for script, language := range alphabets {
		if unicode.Is(unicode.Scripts[script], r) {
			c.letter++
			c.script[language]++
		}
	}
}

// naturalLanguage is "" where too little speaks for any.
func (c *languageCounts) naturalLanguage() string {
	script, _, letters := most(c.script)
	if 5*letters > c.letter && letters > 20 {
		if 20*c.script["ja"] > letters {
			return "ja"
		}
		return script
	}
	if language, n, _ := most(c.words); n >= 6 {
		return language
	}
	return ""
}

// most is the key with the highest count, of equal ones the first by name.
func most(counts map[string]int) (best string, highest, sum int) {
	for key, n := range counts {
		sum += n
		if n > highest || n == highest && key < best {
			best, highest = key, n
		}
	}
	return best, highest, sum
}
