package insight

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Grounded reports whether the purpose is plausible for the material: it is a sentence, and at least two of its
// terms, or the repository's title, occur in the material. A model that writes nonsense still keeps to a schema. A
// purpose in letters other than Latin counts as grounded.
func (a Answer) Grounded(m Material, title string) bool {
	letters, latin := 0, 0
	for _, r := range a.Purpose {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	if latin*2 < letters {
		return true
	}
	words, used := termsOf(a.Purpose), termsOf(m.Text)
	return isSentence(a.Purpose) && (countShared(words, used) >= 2 || countShared(words, termsOf(title)) > 0)
}

// isSentence reports whether the text has at least three words, most of them made of letters.
func isSentence(text string) bool {
	words := strings.Fields(text)
	worded := 0
	for _, w := range words {
		if w = strings.Trim(w, ".,;:!?()\"'`’“”"); w != "" && strings.IndexFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./+#'’@&", r)
		}) < 0 {
			worded++
		}
	}
	return worded >= 3 && worded*3 >= len(words)*2
}

// termsOf returns the meaningful words of a text, in lower case, without a plural s.
func termsOf(text string) map[string]bool {
	terms := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(word) > 2 && !slices.Contains(emptyWords, word) {
			terms[strings.TrimSuffix(word, "s")] = true
		}
	}
	return terms
}

func countShared(a, b map[string]bool) (n int) {
	for term := range a {
		if b[term] {
			n++
		}
	}
	return n
}

// emptyWords are the most frequent words of English. A text may consist of them, and say nothing.
var emptyWords = strings.Fields(`the and that have for not with you this but his from they say her she will one all would
	there their what out about who get which when make can like time just him know take people into year your good some
	could them see other than then now look only come its over think also back after use two how our work first well way
	even new want because any these give day most are was were been has had did does said more many much where why those
	being very should before through still life long great little own here each such may might must same while under
	every both down off again never always between another need let too off thing state hello world`)
