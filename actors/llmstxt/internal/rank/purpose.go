package rank

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	noun "github.com/seed889630bf/lastword/internal/words"
)

// purpose is a text that may say what the repository is for.
type purpose struct {
	text, from, reason string
	points             int
	least              int  // with fewer points it does not count
	whole              bool // its only task is to say what the thing is
}

const (
	clearPoints = 20 // from here on a summary clearly says what the project is

	farDown = 30  // from here on in a README, only a sentence that says what it is counts
	nearTop = -10 // near the top of a README, a short sentence may be enough
)

var (
	sayingVerbs, finiteVerbs = words.Of("saying verbs"), words.Of("finite verbs")
	ownSubjects              = words.Of("own subjects")
	kindNouns                = words.Of("kinds of things")
	phraseStarts, phraseEnds = words.Of("phrase starts"), words.Of("phrase ends")
	advice, orders           = words.Of("advice"), words.Of("orders")
	distracting              = words.Of("distractions")
	noPurpose                = words.Of("no purpose")
)

// purpose returns the text with the most points of weigh. With equal points the order is README, manifest, code. It is
// empty if no text clearly says what the project is: then a person must say it.
func (v *survey) purpose() (best purpose) {
	for _, p := range v.purposes() {
		if p.text = openingOf(p.text); p.text == "" {
			continue
		}
		if why := v.scorePurpose(&p); why != "" && p.points >= p.least && (best.text == "" || p.points > best.points) {
			best = p
			best.reason = fmt.Sprintf("%s; %s (%s)", p.reason, why, noun.Count(p.points, "point"))
		}
	}
	return best
}

// purposes lists the candidates. They do not depend on folder names.
func (v *survey) purposes() []purpose {
	r := v.readme
	list := []purpose{{text: r.Lead, reason: "the README's front matter", points: 16, whole: true}}
	for i, t := range r.Taglines[:min(3, len(r.Taglines))] {
		list = append(list, purpose{text: t, reason: "the README's tag line", points: 14 - 2*i, whole: i == 0})
	}
	for i, t := range r.Prose[:min(10, len(r.Prose))] {
		p := purpose{text: v.skipLeadIn(t.Text, i == 0), reason: fmt.Sprintf("paragraph %d of the README", i+1),
			points: 15 - 5*i, least: [...]int{nearTop, 0, farDown}[min(i, 2)]}
		if !t.Near {
			p.points -= 10
		}
		list = append(list, p)
	}
	list = append(list, purpose{text: r.LeadIn, reason: "what the README begins with", points: 12})
	for i := range list {
		list[i].from = r.Path
	}
	for _, u := range []*Unit{v.main(), v.units[0]} {
		list = append(list, purpose{text: u.About.Description, from: u.About.Path, reason: "the manifest's description",
			points: 10, least: -100, whole: true})
	}
	list = append(list, purpose{text: page.About(r.Title), from: r.Path, reason: "the README's first heading", points: 8, whole: true})
	return append(list, v.goPurposes()...)
}

// skipLeadIn drops the sentences of a paragraph before the one that says what the thing is, unless that needs them.
func (v *survey) skipLeadIn(text string, first bool) string {
	rest := prose.Tidy(text)
	for i, s := range prose.Sentences(rest, 3) {
		low := strings.ToLower(s)
		if i > 0 && (strings.HasPrefix(low, "it ") || !first && strings.HasPrefix(low, "this ")) {
			break // it refers to what was said before
		}
		if hasDefinition(low, v.names()) || isNounPhrase(low) {
			return rest
		}
		rest = strings.TrimSpace(rest[prose.SentenceEnd(rest):])
	}
	return text
}

// scorePurpose adds points for signs of quality in a purpose, and subtracts some for bad ones. why names the strongest sign.
// It is "" for a text about something else than what the thing is: advice, install notes, pointers to other places.
func (v *survey) scorePurpose(p *purpose) (why string) {
	names := v.names()
	sentence := strings.ToLower(prose.Sentence(p.text))
	switch {
	case noPurpose.In(sentence),
		slices.ContainsFunc(names, func(name string) bool { return prose.SameWords(name, sentence) }):
		return ""
	case hasDefinition(sentence, names):
		p.points += 40
		why = "says what it is"
	case isNounPhrase(sentence) && p.least < farDown:
		p.points += 34
		why = "is a noun phrase"
	case distracting.In(sentence) || isAdvice(sentence) || !p.whole && prose.NeedsContext(p.text) ||
		prose.IsBoilerplate(prose.Sentence(p.text)):
		return ""
	case p.whole:
		why = "is made to say it"
	case p.least < farDown && hasSubject(sentence, names):
		p.points -= 10
		why = "says what it does"
	default:
		return ""
	}
	if utf8.RuneCountInString(sentence) <= 240 {
		p.points += 14
	}
	return why
}

// openingOf returns one or two sentences; the second only if it is to the point.
func openingOf(text string) string {
	symbol := func(r rune) bool { return r == ' ' || unicode.In(r, unicode.So, unicode.Cf, unicode.Mn) }
	text = strings.TrimFunc(text, symbol)
	first, whole := prose.Sentence(text), prose.Opening(text)
	second := strings.ToLower(strings.TrimFunc(strings.TrimPrefix(whole, first), symbol))
	oneWord := !strings.ContainsFunc(second, func(r rune) bool { return r == ' ' || r >= utf8.RuneSelf })
	if distracting.In(second) || isAdvice(second) || oneWord || prose.StartsWithAny(second, "what ", "we ", "this means") {
		return first
	}
	return whole
}

// names returns the names of the repository, in lower case.
func (v *survey) names() []string {
	names := strings.Split(strings.ToLower(strings.Join([]string{v.readme.Title, moduleName(v.main().About.Name),
		v.main().About.Name, v.repo.Origin.Repo, strings.TrimPrefix(v.repo.Origin.Repo, "terraform-provider-")}, "\n")), "\n")
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// hasDefinition looks for "<name> is …", "This package provides …" and similar phrases within the first words.
func hasDefinition(sentence string, names []string) bool {
	for _, verb := range sayingVerbs {
		subject, text, ok := strings.Cut(sentence, verb)
		if !ok || len(subject) > 60 || prose.StartsWithAny(text, "very ", "so ", "quite ", "really ", "easy ", "simple to ", "not ", "now ", "currently ") {
			continue
		}
		subject, article := strings.CutPrefix(subject, "the ")
		subject = strings.Trim(subject, "*`_\"{} ")
		for _, n := range names {
			n = strings.TrimPrefix(strings.Trim(n, "*`_\"{} "), "the ")
			switch {
			case subject == n, len(subject) > 2 && !article && prose.HasWords(n, subject) && kindNouns.Word(text) != "":
				return true
			case strings.HasPrefix(subject, n+" ") && kindNouns.Has(subject[len(n)+1:]):
				return true
			case strings.Contains(subject, n) && len(subject) < len(n)+4,
				strings.HasPrefix(subject, n) && afterName.MatchString(subject[len(n):]):
				return true
			}
		}
		if subject == "this" && strings.HasPrefix(verb, " is ") {
			return true
		}
		for _, s := range ownSubjects {
			if subject == s && !(s == "it" && verb == " is ") || strings.HasSuffix(s, " ") && strings.HasPrefix(subject, s) {
				return true
			}
		}
	}
	return prose.ContainsAny(sentence, "是一", "这是", "本项目是", "です", "는 ")
}

// afterName matches what may stand between a name and its verb: "Glow (or glow) is", "Glow, the reader, is".
var afterName = lazyregexp.New(`^[*` + "`" + `"_]*(,| ?[(–—]| - )`)

// hasSubject reports whether the sentence begins with one of the names and goes on with what it does.
func hasSubject(sentence string, names []string) bool {
	for _, article := range []string{"the ", "le ", "la ", "der ", "die ", "das ", "el "} {
		sentence = strings.TrimPrefix(sentence, article)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		does, ok := strings.CutPrefix(sentence, name+" ")
		return ok && !prose.StartsWithAny(does, "is ", "are ", "uses ")
	})
}

// isNounPhrase recognizes "A library for …", "Fast JSON parser for …": the words before the first verb or preposition
// name a kind of thing.
func isNounPhrase(sentence string) bool {
	if isAdvice(sentence) {
		return false
	}
	end, isVerb := len(sentence), false
	for i, words := range []words.List{phraseEnds, finiteVerbs, sayingVerbs} {
		for _, w := range words {
			if pos := strings.Index(sentence, w); pos >= 0 && pos < end {
				end, isVerb = pos, i > 0
			}
		}
	}
	switch {
	case isVerb:
		return false
	case kindNouns.Word(sentence[:end]) != "":
		return end < len(sentence) || phraseStarts.Start(sentence)
	}
	return (end < len(sentence) || len(strings.Fields(sentence)) > 4) &&
		prose.StartsWithAny(sentence, "a ", "an ", "yet another ")
}

// isAdvice reports whether the sentence says what to do or what will follow, rather than what a thing is.
func isAdvice(sentence string) bool { return advice.In(" "+sentence+" ") || orders.Start(sentence) }
