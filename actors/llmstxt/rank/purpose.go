package rank

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
)

// purpose is a text that may say what the repository is for.
type purpose struct {
	text, from, reason string
	points             int
	least              int  // points below which it does not count
	whole              bool // it is there to say what the thing is, and nothing else
	top                bool // it stands below the title
}

const (
	clearPoints = 20 // from which on a summary says what the project is

	farDown = 30  // a README only what clearly says what it is about counts
	nearTop = -10 // of it a short sentence may do
)

var (
	sayingVerbs, finiteVerbs = words.Of("saying verbs"), words.Of("finite verbs")
	ownSubjects              = words.Of("own subjects")
	kindNouns                = words.Of("kinds of things")
	phraseStarts, phraseEnds = words.Of("phrase starts"), words.Of("phrase ends")
	advice, orders           = words.Of("advice"), words.Of("orders")
	distracting, praises     = words.Of("distractions"), words.Of("praises")
)

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
		if why != "" && p.points >= p.least && (best.text == "" || p.points > best.points) {
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
		list = append(list, purpose{text: r.Lead, from: r.Path, reason: "the README's front matter", points: 16,
			whole: true})
	}
	for i, t := range r.Taglines[:min(3, len(r.Taglines))] {
		list = append(list, purpose{text: t, from: r.Path, reason: "the README's tag line", points: 14 - 2*i,
			top: true})
	}
	for i, t := range r.Prose[:min(8, len(r.Prose))] {
		list = append(list, purpose{text: v.toThePoint(t.Text), from: r.Path, reason: fmt.Sprintf("paragraph %d of the README", i+1),
			points: 15 - 5*i})
		switch {
		case i == 0:
			list[len(list)-1].least, list[len(list)-1].top = nearTop, t.Near
		case i > 1:
			list[len(list)-1].least = farDown
		}
	}
	if r.LeadIn != "" {
		list = append(list, purpose{text: r.LeadIn, from: r.Path, reason: "what the README begins with", points: 12,
			top: true})
	}
	for _, u := range []*unit{v.main(), v.units[0]} {
		if u.about.Description != "" {
			list = append(list, purpose{text: u.about.Description, from: u.about.Path,
				reason: "the manifest's description", points: 10, least: -100, whole: true})
		}
	}
	if text, from := v.assemblyDescription(); text != "" {
		list = append(list, purpose{text: text, from: from, reason: "the assembly's description", points: 8, whole: true})
	}
	if _, about := page.NameAndAbout(r.Title); about != "" {
		list = append(list, purpose{text: about, from: r.Path, reason: "the README's first heading", points: 8,
			whole: true})
	}
	return append(list, v.codePurposes()...)
}

// assemblyDescription is what projects of .NET say of themselves that are older than package settings.
func (v *survey) assemblyDescription() (text, from string) {
	for _, f := range v.repo.Files {
		if path.Base(f.Path) != "AssemblyInfo.cs" || f.Place != scan.Product {
			continue
		}
		_, rest, _ := strings.Cut(v.head(f.Path, sourceBytes), `AssemblyDescription("`)
		if said, _, ok := strings.Cut(rest, `")`); ok && prose.Is(said) && (from == "" || depth(f.Path) < depth(from)) {
			text, from = said, f.Path
		}
	}
	return text, from
}

// toThePoint leaves out what a paragraph says before it says what the thing is.
func (v *survey) toThePoint(text string) string {
	rest := prose.Tidy(text)
	for _, s := range prose.Sentences(rest, 3) {
		if low := strings.ToLower(s); saysWhat(low, v.names()) || isNounPhrase(low) {
			return rest
		}
		rest = strings.TrimSpace(rest[prose.SentenceEnd(rest):])
	}
	return text
}

// codePurposes takes what the shallowest entrances of the code say.
func (v *survey) codePurposes() []purpose {
	list := v.goPurposes()
	for _, base := range words.Of("entry files") {
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
			if note := source.Note(found.Language, v.head(found.Path, sourceBytes)); note != "" {
				list = append(list, purpose{text: note, from: found.Path, reason: "entry point", points: codePoints,
					least: -100, whole: true})
			}
		}
	}
	return list
}

// weigh adds points for what a purpose has and takes some for what it has not; why names the strongest sign. It is ""
// for what says something else than what the thing is: advice, install notes, pointers to other places.
func (v *survey) weigh(p *purpose) (why string) {
	low := strings.ToLower(p.text)
	sentence := strings.ToLower(prose.Sentence(p.text))
	kind := kindNouns.Word(strings.TrimPrefix(strings.TrimPrefix(sentence, "command "), "package "))
	switch {
	case saysWhat(sentence, v.names()):
		p.points += 40
		why = "says what it is"
	case (p.top || p.whole) && saysWhatItDoes(sentence, v.names()):
		p.points += 40
		why = "says what it does"
	case isNounPhrase(sentence):
		p.points += 34
		why = "is a noun phrase"
	case distractions(sentence) > 0 || isAdvice(sentence) || !p.whole && prose.NeedsContext(p.text) ||
		prose.IsBoilerplate(prose.Sentence(p.text)):
		return ""
	case p.whole:
		why = "is made to say it"
	case !p.top:
		return ""
	default:
		p.points -= 20
		why = "says most of the candidates"
	}
	if kind != "" {
		p.points += 14
		why += fmt.Sprintf(", names its kind: %s", kind)
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
	return why
}

// distractions counts what speaks of something else than the purpose.
func distractions(low string) int {
	return countOf(low, distracting...)
}

// openingOf is one or two sentences, the second only if it is to the point.
func openingOf(text string) string {
	first, whole := prose.Sentence(text), prose.Opening(text)
	second := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(whole, first)))
	if distractions(second) > 0 || isAdvice(second) || prose.StartsWithAny(second, "what ", "we ", "this means") {
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
	for _, n := range []string{v.readme.Title, moduleName(v.main().about.Name), v.main().about.Name,
		v.repo.Origin.Repo} {
		if n = strings.ToLower(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// saysWhat looks for "<name> is …", "This package provides …" and the like within the first words.
func saysWhat(sentence string, names []string) bool {
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
				return true
			case strings.HasPrefix(subject, n+" ") && kindNouns.Has(subject[len(n)+1:]):
				return true
			case strings.Contains(subject, n) && (len(subject) < len(n)+4 || strings.ContainsAny(subject, "(-–—,")):
				return true
			}
		}
		if subject == "this" && strings.HasPrefix(verb, " is ") {
			return true
		}
		for _, s := range ownSubjects {
			if subject == s || strings.HasSuffix(s, " ") && strings.HasPrefix(subject, s) {
				return true
			}
		}
	}
	return prose.ContainsAny(sentence, "是", "です", "는 ")
}

// saysWhatItDoes looks for "<name> <verb>s …".
func saysWhatItDoes(sentence string, names []string) bool {
	for _, n := range names {
		rest, ok := strings.CutPrefix(strings.TrimLeft(sentence, "*`_\"{"), n+" ")
		verb, _, more := strings.Cut(rest, " ")
		if ok && more && strings.HasSuffix(verb, "s") && !prose.EndsWithAny(verb, "ss", "'s", "’s") {
			return true
		}
	}
	return false
}

// isNounPhrase holds for "A library for …", "Fast JSON parser for …": what stands before the first verb or
// preposition names a kind of thing.
func isNounPhrase(sentence string) bool {
	if isAdvice(sentence) {
		return false
	}
	end, isVerb := len(sentence), false
	for i, words := range []words.List{phraseEnds, finiteVerbs, sayingVerbs} {
		for _, w := range words {
			if at := strings.Index(sentence, w); at >= 0 && at < end {
				end, isVerb = at, i > 0
			}
		}
	}
	switch {
	case isVerb:
		return false
	case kindNouns.Word(sentence[:end]) != "":
		return end < len(sentence) || phraseStarts.Start(sentence)
	}
	return end < len(sentence) && prose.StartsWithAny(sentence, "a ", "an ", "yet another ")
}

// isAdvice tells what one should do or will see from what a thing is.
func isAdvice(sentence string) bool {
	return advice.In(" "+sentence+" ") || orders.Start(sentence)
}
