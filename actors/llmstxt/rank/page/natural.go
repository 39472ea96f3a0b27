package page

import (
	"strings"
	"unicode"
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
		c.words[smallWord(strings.ToLower(strings.Trim(w, ".,:;!?()\"")))]++
	}
	for _, r := range line {
		if r < 0x80 {
			if r >= 'a' && r <= 'z' {
				c.letter++
			}
			continue
		}
		if s := scriptOf(r); s != "" {
			c.letter++
			c.script[s]++
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

func smallWord(w string) string {
	switch w {
	case "the", "and", "of", "is", "with", "you", "for", "this", "that", "are":
		return "en"
	case "der", "und", "ist", "nicht", "ein", "eine", "mit", "auf", "sie", "werden":
		return "de"
	case "le", "les", "est", "une", "dans", "pour", "vous", "des", "avec", "et":
		return "fr"
	case "el", "los", "las", "una", "con", "por", "como", "es", "y", "del":
		return "es"
	case "os", "uma", "não", "você", "com", "são", "ao", "dos", "ou", "é":
		return "pt"
	case "il", "gli", "che", "di", "della", "sono", "per", "questo", "nel", "è":
		return "it"
	case "het", "een", "niet", "voor", "van", "zijn", "je", "wordt", "aan", "ook":
		return "nl"
	case "jest", "nie", "się", "aby", "dla", "przez", "lub", "które", "oraz", "można":
		return "pl"
	case "ve", "bir", "için", "ile", "bu", "olarak", "veya", "olan", "gibi", "daha":
		return "tr"
	case "och", "är", "att", "det", "som", "för", "inte", "på", "av", "kan":
		return "sv"
	case "yang", "dan", "untuk", "dengan", "ini", "dari", "anda", "pada", "atau", "dalam":
		return "id"
	case "và", "của", "các", "được", "cho", "không", "một", "là", "với", "những":
		return "vi"
	}
	return ""
}

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
