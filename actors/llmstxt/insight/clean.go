package insight

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// Clean keeps of the answer what can stand in the index: single lines of bounded length, without links, markup,
// commands and advice, about sections that there are and files whose text was shown. The purpose stands only where the
// index has no good summary. refused says which lines it refuses, and why.
func (a Answer) Clean(index *rank.Index, m Material) (out Answer, refused []string) {
	c := cleaner{known: knownOf(index), seen: map[string]bool{}, clean: render.Liner()}
	if index.Summary == "" || index.SummaryPoor {
		out.Purpose = c.line("the purpose", a.Purpose, maxPurpose)
	}
	for _, concept := range a.Concepts {
		name := c.line("the name of a concept", concept.Name, maxName)
		if len(out.Concepts) == maxConcepts || name == "" || !c.first("concept "+name) {
			continue
		}
		if meaning := c.line("the concept "+name, concept.Meaning, maxLine); meaning != "" {
			out.Concepts = append(out.Concepts, Concept{name, meaning})
		}
	}
	for _, s := range a.Sections {
		at := slices.IndexFunc(index.Sections, func(have rank.Section) bool {
			return strings.EqualFold(have.Name, strings.TrimSpace(s.Name))
		})
		if at < 0 || !c.first("section "+index.Sections[at].Name) {
			continue
		}
		if note := c.line("the note on "+index.Sections[at].Name, s.Note, maxLine); note != "" {
			out.Sections = append(out.Sections, Section{index.Sections[at].Name, note})
		}
	}
	c.advised = true // is what these lines are for
	for _, said := range a.Remember {
		said = c.line("a line to remember", said, maxLine)
		if len(out.Remember) < maxRemember && said != "" && c.first("remember "+said) {
			out.Remember = append(out.Remember, said)
		}
	}
	c.advised = false
	out.Notes = c.notes(a.Notes, index, m)
	return out, c.refused
}

type cleaner struct {
	known   map[string]bool // addresses
	seen    map[string]bool
	clean   func(s string) string
	advised bool // advice may stand
	refused []string
}

// line gives the text as a line of the index, or "" for one that it refuses.
func (c *cleaner) line(of, text string, most int) string {
	line := strings.TrimSpace(strings.TrimLeft(c.clean(text), "-*#> "))
	why := ""
	switch {
	case utf8.RuneCountInString(line) > most:
		why = fmt.Sprintf("is longer than %d characters", most)
	case slices.ContainsFunc(addresses(line), func(a string) bool { return !c.known[a] }):
		why = "has a link"
	case markup.MatchString(line):
		why = "has markup"
	case commands.MatchString(line):
		why = "has a command"
	case !c.advised && advice.MatchString(line):
		why = "gives advice"
	default:
		return line
	}
	c.refused = append(c.refused, of+" "+why)
	return ""
}

var (
	markup   = regexp.MustCompile("\\]\\(|\\]\\[|```|\\*\\*\\w[^*]*\\*\\*|(?:^|\\W)<[a-z/!]|(?:^|\\s)#{1,6} ")
	commands = regexp.MustCompile(`(?i)\b(?:(?:p?npm|yarn|bun|pipx?|pip3|uv|gem|cargo|brew|apt|apt-get|dnf|apk|go|composer|` +
		`dotnet|opam|mix|luarocks|conda) (?:i|install|add|get|require|exec)|npx|curl|wget|sudo|rm -\w+)\b|\| *(?:ba|z)?sh\b`)
	advice = regexp.MustCompile(`(?i)^(?:install|download|use|visit|click|follow|see|ignore|always|never|star|try|check out|` +
		`refer to|go to|make sure|be sure) |\b(?:please|you (?:can|should|must|need|may|have|might|could|will))\b`)
)

func (c *cleaner) first(key string) bool {
	key = strings.ToLower(key)
	defer func() { c.seen[key] = true }()
	return !c.seen[key]
}

// notes keeps those of listed files that have none and that the model was shown: what it says of others is a guess.
func (c *cleaner) notes(said []Note, index *rank.Index, m Material) []Note {
	titles := map[string]string{}
	_, bare := byScore(index)
	for _, l := range bare {
		if m.Shown[l.Path] {
			titles[l.Path] = l.Title
		}
	}
	var list []Note
	for _, n := range said {
		path := strings.TrimSpace(n.Path)
		title, wanted := titles[path]
		if !wanted || !c.first("note "+path) {
			continue
		}
		if note := c.line("the note on "+path, n.Note, maxLine); note != "" && !prose.SameWords(note, title) {
			list = append(list, Note{path, note})
		}
	}
	return list
}

// knownOf lists the addresses that the index has, beside URLs.
func knownOf(index *rank.Index) map[string]bool {
	words := []string{index.Origin.Remote}
	for _, f := range index.Facts {
		words = append(words, f.Value)
	}
	for _, s := range index.Sections {
		for _, l := range s.Links {
			words = append(words, l.Path, l.Title)
		}
	}
	known := map[string]bool{}
	for _, a := range addresses(strings.Join(words, " ")) {
		known[a] = !strings.Contains(a, "://")
	}
	return known
}

// addresses lists the words of a text that lead somewhere else: URLs, and what is written like a host.
func addresses(text string) []string {
	var list []string
	between := func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>()[]{}\"'`,;|*", r) }
	for word := range strings.FieldsFuncSeq(text, between) {
		word = strings.TrimRight(word, ".:!?/")
		if isAddress(word) {
			list = append(list, word)
		}
	}
	return list
}

func isAddress(word string) bool {
	lower := strings.ToLower(word)
	if u, err := url.Parse(lower); strings.Contains(lower, "://") || strings.HasPrefix(lower, "www.") ||
		err == nil && slices.Contains([]string{"javascript", "data", "mailto", "vbscript", "file"}, u.Scheme) {
		return true
	}
	host, rest, _ := strings.Cut(lower, "/")
	host, _, _ = strings.Cut(host[strings.LastIndexByte(host, '@')+1:], ":")
	labels := strings.Split(host, ".")
	top := labels[len(labels)-1]
	if len(labels) < 2 || strings.Trim(top, "abcdefghijklmnopqrstuvwxyz") != "" || len(top) < 2 || labels[0] == "" {
		return false
	}
	return rest != "" || slices.Contains([]string{"com", "org", "xyz", "info", "ru", "cn", "top", "link"}, top)
}
