package llmstxt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// clean keeps those parts of the answer that may go into the index: single lines of bounded length, without links,
// markup, commands and advice, that name only what their page holds. The purpose is kept only if the index has no good
// summary. refused says which lines were refused, and why.
func (a Answer) clean(index *rank.Index, m Material) (out Answer, refused []string) {
	c := cleaner{known: knownOf(index), clean: sanitize.Liner()}
	if index.Summary == "" || index.SummaryPoor {
		out.Purpose = c.line("the purpose", a.Purpose, maxPurpose, m.Text)
	}
	_, bare := byScore(index)
	for _, said := range a.Notes {
		path := strings.TrimSpace(said.Path)
		pos := slices.IndexFunc(bare, func(l rank.Link) bool { return l.Path == path })
		if pos < 0 || m.Shown[path] == "" {
			continue // a guess
		}
		page := strings.Join([]string{index.Title, path, bare[pos].Title, m.Shown[path]}, "\n")
		if note := c.line("the note on "+path, said.Note, maxLine, page); note != "" && !prose.SameWords(note, bare[pos].Title) {
			out.Notes = append(out.Notes, FileNote{path, note})
		}
		bare = slices.Delete(bare, pos, pos+1) // a second note is none
	}
	return out, c.refused
}

// cleaner holds the state of a clean.
type cleaner struct {
	known   []string // addresses that may be named
	clean   func(s string) string
	refused []string
}

// line returns the text about a page as a line of the index, or "" if it refuses the text.
func (c *cleaner) line(of, text string, most int, page string) string {
	line := strings.TrimSpace(strings.TrimLeft(c.clean(text), "-*#> "))
	why := ""
	switch {
	case utf8.RuneCountInString(line) > most:
		why = fmt.Sprintf("is longer than %d characters", most)
	case slices.ContainsFunc(addresses(line), func(a string) bool { return !slices.Contains(c.known, a) }):
		why = "has a link"
	case markup.MatchString(line):
		why = "has markup"
	case commands.MatchString(line):
		why = "has a command"
	case advice.MatchString(line):
		why = "gives advice"
	default:
		lie := invented(line, page)
		if lie == "" {
			return line
		}
		why = "says " + lie + ", which the text does not"
	}
	c.refused = append(c.refused, of+" "+why)
	return ""
}

var (
	markup   = lazyregexp.New("\\]\\(|\\]\\[|```|\\*\\*\\w[^*]*\\*\\*|(?:^|\\W)<[a-z/!]|(?:^|\\s)#{1,6} ")
	commands = lazyregexp.New(`(?i)\b(?:(?:p?npm|yarn|bun|pipx?|pip3|uv|gem|cargo|brew|apt|apt-get|dnf|apk|go|composer|` +
		`dotnet|opam|mix|luarocks|conda) (?:i|install|add|get|require|exec)|npx|curl|wget|sudo|rm -\w+)\b|\| *(?:ba|z)?sh\b`)
	advice = lazyregexp.New(`(?i)^(?:install|download|use|visit|click|follow|see|ignore|always|never|star|try|check out|` +
		`refer to|go to|make sure|be sure) |\b(?:please|you (?:can|should|must|need|may|have|might|could|will))\b`)
)

// knownOf lists the addresses in the index, apart from URLs.
func knownOf(index *rank.Index) []string {
	words := []string{index.Origin.Remote}
	for _, f := range index.Facts {
		words = append(words, f.Value)
	}
	for _, s := range index.Sections {
		for _, l := range s.Links {
			words = append(words, l.Path, l.Title)
		}
	}
	return slices.DeleteFunc(addresses(strings.Join(words, " ")), func(a string) bool { return strings.Contains(a, "://") })
}

// addresses lists the words of a text that lead elsewhere: URLs, and words with the form of a host.
func addresses(text string) []string {
	var list []string
	between := func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>()[]{}\"'`,;|*", r) }
	for word := range strings.FieldsFuncSeq(text, between) {
		if !strings.Contains(word, "://") { // a scheme alone counts, too
			word = strings.TrimRight(word, ".:!?/")
		}
		if address.MatchString(word) {
			list = append(list, word)
		}
	}
	return list
}

var address = lazyregexp.New(`(?i)://|^www\.|^(?:javascript|data|mailto|vbscript|file):|` +
	`^(?:[^/]*@)?[^/@.:]+(?:\.[^/@.:]+)*\.(?:[a-z]{2,}(?::[^/]*)?/|(?:com|org|xyz|info|ru|cn|top|link)(?::|$))`)

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
