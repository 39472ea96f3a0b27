package rank

import (
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

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
			case strings.HasPrefix(subject, n+" ") && slices.Contains(kindNouns, subject[len(n)+1:]):
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
	for i, words := range [][]string{phraseEnds, finiteVerbs, sayingVerbs} {
		for _, w := range words {
			if at := strings.Index(sentence, w); at >= 0 && at < end {
				end, isVerb = at, i > 0
			}
		}
	}
	switch {
	case isVerb:
		return false
	case kindOfThing(sentence[:end]) != "":
		return end < len(sentence) || prose.StartsWithAny(sentence, phraseStarts...)
	}
	return end < len(sentence) && prose.StartsWithAny(sentence, "a ", "an ", "yet another ")
}

// isAdvice tells what one should do or will see from what a thing is.
func isAdvice(sentence string) bool {
	return prose.ContainsAny(" "+sentence+" ", advising...) || prose.StartsWithAny(sentence, orders...)
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
