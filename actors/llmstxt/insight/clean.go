package insight

import (
	"net/url"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
)

// Clean keeps of the answer what can stand in the index: single lines of bounded length, about sections that there
// are and files whose text was shown, without addresses that the index does not have.
func (a Answer) Clean(index *rank.Index, m Material) Answer {
	c := cleaner{known: knownOf(index), seen: map[string]bool{}, clean: render.Liner()}
	out := Answer{Purpose: c.line(a.Purpose, maxPurpose)}
	for _, concept := range a.Concepts {
		name, meaning := c.line(concept.Name, maxName), c.line(concept.Meaning, maxLine)
		if len(out.Concepts) < maxConcepts && name != "" && meaning != "" && c.first("concept "+name) {
			out.Concepts = append(out.Concepts, Concept{name, meaning})
		}
	}
	for _, said := range a.Remember {
		if said = c.line(said, maxLine); len(out.Remember) < maxRemember && said != "" && c.first("remember "+said) {
			out.Remember = append(out.Remember, said)
		}
	}
	out.Sections, out.Notes = c.sections(a.Sections, index), c.notes(a.Notes, index, m)
	return out
}

type cleaner struct {
	known map[string]bool // addresses
	seen  map[string]bool
	clean func(s string) string
}

// line is "" where nothing of the text can be used.
func (c *cleaner) line(s string, most int) string {
	s = strings.TrimSpace(strings.TrimLeft(c.clean(s), "-*#> "))
	if len(s) > most || slices.ContainsFunc(addresses(s), func(a string) bool { return !c.known[a] }) {
		return ""
	}
	return s
}

func (c *cleaner) first(key string) bool {
	key = strings.ToLower(key)
	defer func() { c.seen[key] = true }()
	return !c.seen[key]
}

func (c *cleaner) sections(said []Section, index *rank.Index) []Section {
	var list []Section
	for _, s := range said {
		at := slices.IndexFunc(index.Sections, func(have rank.Section) bool {
			return strings.EqualFold(have.Name, strings.TrimSpace(s.Name))
		})
		note := c.line(s.Note, maxLine)
		if at >= 0 && note != "" && c.first("section "+index.Sections[at].Name) {
			list = append(list, Section{index.Sections[at].Name, note})
		}
	}
	return list
}

// notes keeps those of listed files that have none and that the model was shown: what it says of others is a guess.
func (c *cleaner) notes(said []Note, index *rank.Index, m Material) []Note {
	titles := map[string]string{}
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if l.Note == "" && m.Shown[l.Path] {
				titles[l.Path] = l.Title
			}
		}
	}
	var list []Note
	for _, n := range said {
		path := strings.TrimSpace(n.Path)
		title, wanted := titles[path]
		note := c.line(n.Note, maxLine)
		if wanted && note != "" && !strings.EqualFold(note, title) && c.first("note "+path) {
			list = append(list, Note{path, note})
		}
	}
	return list
}

// knownOf lists the addresses that the index has.
func knownOf(index *rank.Index) map[string]bool {
	known := map[string]bool{index.Origin.Remote: true}
	add := func(text string) {
		known[text] = true
		for _, a := range addresses(text) {
			known[a] = true
		}
	}
	for _, f := range index.Facts {
		add(f.Value)
	}
	for _, s := range index.Sections {
		for _, l := range s.Links {
			add(l.URL)
			add(l.Path)
			add(l.Title)
		}
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
