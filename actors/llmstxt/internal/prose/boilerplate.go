package prose

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences returns at most n first sentences of a paragraph, each cut as Sentence does.
func Sentences(paragraph string, n int) []string {
	var list []string
	for rest := Tidy(paragraph); rest != "" && len(list) < n; {
		end := SentenceEnd(rest)
		list = append(list, Shorten(rest[:end], SentenceRunes))
		rest = strings.TrimSpace(rest[end:])
	}
	return list
}

// informativeSentences is how many sentences of a paragraph are examined.
const informativeSentences = 4

// Informative returns the first sentence of a paragraph that says something by itself, or "". Text that begins as a
// legal text is taken for one.
func Informative(paragraph string) string {
	for i, s := range Sentences(paragraph, informativeSentences) {
		switch {
		case isLegal(strings.ToLower(s)):
			return ""
		case !IsBoilerplate(s) && (i == 0 || !NeedsContext(s)):
			return s
		}
	}
	return ""
}

// IsBoilerplate reports whether a sentence says nothing about its file or symbol: greetings, questions, orders to
// readers and tools, authors, licences, references to other places.
func IsBoilerplate(s string) bool {
	low := strings.ToLower(Tidy(s))
	switch {
	case low == "":
		return false
	case strings.IndexByte("-\\*+=/|<>~^(,;.", low[0]) >= 0, strings.HasSuffix(low, "?"), isLegal(low),
		strings.Contains(low, "@") && mail.MatchString(low):
		return true
	case utf8.RuneCountInString(low) < 12, phrases["cut off after"].Has(low[strings.LastIndexByte(low, ' ')+1:]),
		len(low) < 40 && strings.Contains(low, "backward"), Instructs(low):
		return true
	}
	return isResidue(s) || phrases["boilerplate begins with"].Start(low) || phrases["boilerplate has"].In(low) ||
		ContainsAny(low, "|release|", "|version|", "|today|") // of Sphinx
}

// Instructs reports whether a text tells an assistant what to do.
func Instructs(s string) bool { return phrases["addressed to assistants"].In(strings.ToLower(s)) }

// NeedsContext reports whether a sentence continues the one before it.
func NeedsContext(s string) bool {
	low := strings.ToLower(s)
	rest, ok := strings.CutPrefix(low, "this ")
	if !ok {
		return phrases["goes on from the sentence before"].Start(low)
	}
	word, _, _ := strings.Cut(rest, " ")
	return !phrases[`"this" of it says what it is`].Has(word)
}

// isLegal recognizes the words of licences. s is in lower case.
func isLegal(s string) bool { return StartsWithAny(s, "(c)", "©") || phrases["legal"].In(s) }

var mail = regexp.MustCompile(`[a-z0-9]@[a-z0-9][^ .]*\.[a-z0-9][^ ]`)

// ContainsAny reports whether the text contains any of the parts.
func ContainsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// StartsWithAny reports whether the text starts with any of the prefixes.
func StartsWithAny(s string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(s, start) })
}

// EndsWithAny reports whether the text ends with any of the suffixes.
func EndsWithAny(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s, end) })
}

// TrimFrame removes runs of framing characters from both ends. A text that had one is a banner, not a sentence.
func TrimFrame(s string) (text string, framed bool) {
	text = strings.TrimSpace(s)
	for _, mark := range "/=-*#~_" {
		run := strings.Repeat(string(mark), 3)
		if strings.HasPrefix(text, run) || strings.HasSuffix(text, run) {
			framed = true
			text = strings.TrimSpace(strings.Trim(text, string(mark)))
		}
	}
	return text, framed
}

// IsBanner recognizes the heading of a part of a file: framed, or a word or two.
func IsBanner(s string) bool {
	text, framed := TrimFrame(s)
	words := len(strings.Fields(text))
	return words < 2 && isLatin(text) || framed && words < 5 && !strings.HasSuffix(text, ".")
}

// SameWords reports whether two texts have the same letters and digits, ignoring case.
func SameWords(a, b string) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	return letters(a) == letters(b)
}

// marks replaces the markup of documentation tools by what a reader sees.
var marks = strings.NewReplacer("<code>", "`", "</code>", "`", "<tt>", "`", "</tt>", "`", "<p>", " ", "</p>", " ",
	"<p/>", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "<em>", "", "</em>", "", "<b>", "", "</b>", "", "<i>", "",
	"</i>", "", "<strong>", "", "</strong>", "", "&lt;", "<", "&gt;", ">", "&quot;", "\"", "&nbsp;", " ")

// Clean removes the markup of documentation tools from a sentence: "[Grids](@id grids)" of Julia, "<code>x</code>" of
// Java, "[Grids][frob.grids]" of Python.
func Clean(s string) string {
	if strings.Contains(s, "](@") {
		s = juliaLink.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, "][") {
		s = reference.ReplaceAllString(s, "$1$2")
	}
	if strings.ContainsAny(s, "<&") {
		s = Tidy(marks.Replace(s))
	}
	return s
}

var juliaLink = regexp.MustCompile(`\[([^\[]*?)\]\(@[^)]*\)`)

// reference matches a link to a name in another page or in the code, but not a value that an index follows.
var reference = regexp.MustCompile(`(^|[^\w\])])\[([^\[\]]+)\]\[[^\[\]]*\]`)

// numbered matches "2#", from a list that a tool numbers.
var numbered = regexp.MustCompile(`(?:^|\s)\d+#(?:$|\s)`)

// isResidue recognizes remains of markup and code, and warnings without their subject.
func isResidue(s string) bool {
	low := strings.ToLower(s)
	if phrases["residue has"].In(low) || phrases["residue begins with"].Start(low) ||
		strings.Contains(s, "#") && numbered.MatchString(s) {
		return true
	}
	return phrases["code begins with"].Start(s) && ContainsAny(s, "{", "=", "(", ";")
}

//go:embed phrases.txt
var phrasesText string

var phrases = Lists(phrasesText)

// List is a list of words or phrases.
type List []string

// Lists parses named lists. A list begins with "= " and its name. Its words follow, separated by "|" and line ends.
// Spaces around a word are part of it. Lines that begin with "#" are ignored.
func Lists(text string) map[string]List {
	all := make(map[string]List)
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "= "); ok {
			name = head
		} else if line != "" && line[0] != '#' {
			all[name] = append(all[name], strings.Split(strings.TrimSuffix(line, "|"), "|")...)
		}
	}
	return all
}

// Has reports whether s is in the list.
func (l List) Has(s string) bool { return slices.Contains(l, s) }

// In reports whether the text contains any of the words.
func (l List) In(s string) bool { return ContainsAny(s, l...) }

// Start reports whether the text begins with any of the words.
func (l List) Start(s string) bool { return StartsWithAny(s, l...) }

// End reports whether the text ends with any of the words.
func (l List) End(s string) bool { return EndsWithAny(s, l...) }

// Word returns the first entry that the text contains as a whole word, or "".
func (l List) Word(s string) string {
	if i := slices.IndexFunc(l, func(w string) bool { return HasWords(s, w) }); i >= 0 {
		return l[i]
	}
	return ""
}

// HasWords reports whether the text contains the whole words. The last one may have an ending.
func HasWords(text, words string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		from += i
		rest := text[from+len(words):]
		ending := len(rest) - len(strings.TrimLeftFunc(rest, IsIdent))
		if !IsIdent(rune(ByteAt(text, from-1))) && ending <= 2 {
			return true
		}
	}
}

// IsIdent reports whether a character may be part of an identifier.
func IsIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// ByteAt returns the byte at i; outside of the text it returns a space.
func ByteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}
