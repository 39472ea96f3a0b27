package rank

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
)

// purpose is a text that may say what the repository is for.
type purpose struct {
	text, from, reason string
	points             int
	least              int // points below which it does not count
}

// farDown a README only what clearly says what it is about counts.
const farDown = 30

// codePoints lets the code speak where README and manifest say little.
const codePoints = -14

// purpose takes the text that says most, by the points of weigh. Of equal ones the first counts: the README, the
// manifest, the code.
func (v *survey) purpose() purpose {
	var best purpose
	for _, p := range v.purposes() {
		p.text = openingOf(p.text)
		if p.text == "" {
			continue
		}
		why := v.weigh(&p)
		if p.points >= p.least && (best.text == "" || p.points > best.points) {
			best = p
			best.reason = fmt.Sprintf("%s; %s (%s)", p.reason, why, prose.Count(p.points, "point"))
		}
	}
	return best
}

// purposes lists the texts to choose from. Folders' names have no part in it.
func (v *survey) purposes() []purpose {
	var list []purpose
	r := v.readme
	if r.Lead != "" {
		list = append(list, purpose{text: r.Lead, from: r.Path, reason: "the README's front matter", points: 16})
	}
	for i, t := range r.Taglines[:min(3, len(r.Taglines))] {
		list = append(list, purpose{text: t, from: r.Path, reason: "the README's tag line", points: 14 - 2*i})
	}
	for i, t := range r.Prose[:min(8, len(r.Prose))] {
		list = append(list, purpose{text: t.Text, from: r.Path, reason: fmt.Sprintf("paragraph %d of the README", i+1),
			points: 15 - 5*i})
		if i > 1 {
			list[len(list)-1].least = farDown
		}
	}
	if m := v.root().about; m.Description != "" {
		list = append(list, purpose{text: m.Description, from: m.Path, reason: "the manifest's description",
			points: 10})
	}
	return append(list, v.codePurposes()...)
}

// codePurposes takes what the shallowest entrances of the code say.
func (v *survey) codePurposes() []purpose {
	list := v.goPurposes()
	for _, base := range []string{"__init__.py", "lib.rs", "main.rs", "__main__.py", "mod.ts", "index.ts", "index.js"} {
		var found *scan.File
		for i := range v.repo.Files {
			f := &v.repo.Files[i]
			if f.Place == scan.Product && path.Base(f.Path) == base && f.Size > 0 &&
				(found == nil || depth(f.Path) < depth(found.Path) || depth(f.Path) == depth(found.Path) &&
					f.Size > found.Size) {
				found = f
			}
		}
		if found != nil && !v.mix.isMinor(found.Language) {
			if note := source.Note(found.Path, v.head(found.Path, sourceBytes)); note != "" {
				list = append(list, purpose{text: note, from: found.Path, reason: "entry point", points: codePoints,
					least: -100})
			}
		}
	}
	return list
}

// weigh adds points for what a purpose has and takes some for what it has not; why names the strongest sign.
func (v *survey) weigh(p *purpose) (why string) {
	low := strings.ToLower(p.text)
	sentence := strings.ToLower(prose.Sentence(p.text))
	switch {
	case saysWhat(sentence, v.names()) > 1:
		p.points += 40
		why = "says what it is"
	case saysWhat(sentence, v.names()) == 1:
		p.points += 30
		why = "mentions it"
	case isNounPhrase(sentence):
		p.points += 34
		why = "is a noun phrase"
	default:
		why = "says most of the candidates"
	}
	bare := strings.TrimPrefix(strings.TrimPrefix(sentence, "command "), "package ")
	if w := kindOfThing(bare); w != "" {
		p.points += 14
		why += fmt.Sprintf(", names its kind: %s", w)
	}
	switch n := utf8.RuneCountInString(p.text); {
	case n < 24:
		p.points -= 14
	case n <= 40:
		p.points += 4
	case n <= 240:
		p.points += 14
	}
	p.points -= 12 * countOf(low, praises...)
	p.points -= 22 * distractions(low)
	if first, _ := utf8.DecodeRuneInString(p.text); !unicode.IsLetter(first) && !unicode.IsDigit(first) &&
		!strings.ContainsRune("`@\"*'_", first) {
		p.points -= 8
	}
	if strings.HasSuffix(sentence, "?") {
		p.points -= 20
	}
	return why
}

// distractions counts what speaks of something else than the purpose.
func distractions(low string) int {
	return countOf(low, distracting...)
}

// openingOf is one or two sentences, the second only if it is to the point.
func openingOf(text string) string {
	first, whole := prose.Sentence(text), prose.Opening(text)
	if distractions(strings.ToLower(strings.TrimPrefix(whole, first))) > 0 {
		return first
	}
	return whole
}

func countOf(s string, words ...string) int {
	n := 0
	for _, w := range words {
		if strings.Contains(s, w) {
			n++
		}
	}
	return min(n, 3)
}

// names are those that the repository goes by, in lower case.
func (v *survey) names() []string {
	var names []string
	for _, n := range []string{v.readme.Title, moduleName(v.root().about.Name), v.root().about.Name,
		v.repo.Origin.Repo} {
		if n = strings.ToLower(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// saysWhat looks for "<name> is …", "This package provides …" and the like
// within the first words: 2 if the subject is the name, 1 if that is in it.
func saysWhat(sentence string, names []string) int {
	for _, verb := range sayingVerbs {
		subject, _, ok := strings.Cut(sentence, verb)
		if !ok || len(subject) > 60 {
			continue
		}
		subject = strings.Trim(strings.TrimPrefix(subject, "the "), "*`_\"{} ")
		for _, n := range names {
			n = strings.Trim(n, "*`_\"{} ")
			switch {
			case len(subject) > 2 && strings.Contains(n, subject):
				return 2
			case strings.Contains(subject, n) && (len(subject) < len(n)+4 || strings.ContainsAny(subject, "(-–—,")):
				return 2
			case strings.Contains(subject, n):
				return 1
			}
		}
		if subject == "this" && strings.HasPrefix(verb, " is ") {
			return 2
		}
		for _, s := range ownSubjects {
			if subject == s || strings.HasSuffix(s, " ") && strings.HasPrefix(subject, s) {
				return 2
			}
		}
	}
	if strings.Contains(sentence, "是") || strings.Contains(sentence, "です") || strings.Contains(sentence, "는 ") {
		return 2
	}
	return 0
}

// isNounPhrase holds for "A library for …", "Fast JSON parser for …".
func isNounPhrase(sentence string) bool {
	if prose.StartsWithAny(sentence, "a ", "an ", "the ", "fast", "simple", "small", "modern", "lightweight",
		"yet another ") {
		return true
	}
	head, _, ok := strings.Cut(sentence, " for ")
	if !ok {
		head, _, ok = strings.Cut(sentence, " with ")
	}
	return ok && kindOfThing(head) != ""
}

// kindOfThing is the noun that says what sort of thing is spoken of.
func kindOfThing(s string) string {
	for _, w := range kindNouns {
		if prose.HasWords(s, w) {
			return w
		}
	}
	return ""
}
