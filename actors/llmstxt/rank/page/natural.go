package page

import "unicode"

// scripts are the scripts of languages without Latin letters.
var scripts = []string{"Han", "Hiragana", "Katakana", "Hangul", "Cyrillic", "Arabic", "Devanagari", "Greek", "Hebrew", "Thai"}

// letters counts the letters of a text by script.
type letters struct {
	script map[string]int
	latin  int
}

func (c *letters) count(line string) {
	if c.latin > 4000 {
		return
	}
	for _, r := range line {
		if r >= 'a' && r <= 'z' {
			c.latin++
		} else if r >= 0x80 {
			c.other(r)
		}
	}
}

func (c *letters) other(r rune) {
	for _, script := range scripts {
		if unicode.Is(unicode.Scripts[script], r) {
			if c.script == nil {
				c.script = make(map[string]int)
			}
			c.script[script]++
			return
		}
	}
}

// most returns the script of a large part of the text; "" for Latin, or for too little text.
func (c *letters) most() (best string) {
	for _, script := range scripts {
		if n := c.script[script]; n > 20 && 4*n > c.latin && n > c.script[best] {
			best = script
		}
	}
	return best
}
