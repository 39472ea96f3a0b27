package rank

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const whatChanged = "what changed"

// formalNames are the names and titles of pages about the project rather than what it makes. A page without a section
// is left out.
var formalNames = []struct {
	section, reason string
	words           words.List
}{
	{Optional, "instructions for agents", words.Of("titles for agents")},
	{Optional, "how to change the code", words.Of("titles on changing the code")},
	{Optional, whatChanged, words.Of("titles on what changed")},
	{Optional, "how to upgrade", words.Of("titles on upgrading")},
	{Optional, "how to report vulnerabilities", words.Of("titles on vulnerabilities")},
	{"", "about the people, not the product", words.Of("titles on people")},
	{"", "about the project's own work", words.Of("titles on the project's own work")},
	{"", "about its users", words.Of("titles on users")},
}

// titleWords tell by the title where a page belongs.
var titleWords = []struct {
	section string
	words   words.List
}{
	{secDocs, words.Of("titles of docs")},
	{secTutorials, words.Of("titles of tutorials")},
	{secConfiguration, words.Of("titles of configuration")},
	{secOperations, words.Of("titles of operations")},
	{secConcepts, words.Of("titles of concepts")},
	{secAPI, words.Of("titles of references")},
}

var (
	weakTitles  = words.Of("weak titles")
	exampleWord = words.Of("titles of examples")
	entryParts  = words.Of("headings of a reference")
)

// sectionOf decides by what the page says where it belongs. Without a section the reason says why it is passed over.
func (j *pageJudge) sectionOf(d *document) (section, reason string) {
	if reason := j.notForReaders(d); reason != "" {
		return "", reason
	}
	if section, reason := formal(d); reason != "" {
		return section, reason
	}
	if d.Fences >= 2 && exampleWord.Word(strings.ToLower(d.Heading)) != "" {
		return secExamples, fmt.Sprintf("heading says %q", d.Heading)
	}
	for _, try := range []func(*document) (string, string){byNames, byTitle, j.byShape} {
		if section, reason := try(d); section != "" {
			return section, reason
		}
	}
	return secDocs, "page of prose"
}

// fewPages in a folder may be of different sorts; of more, all may have steps in them.
const fewPages = 3

// notForReaders says what keeps a page out altogether.
func (j *pageJudge) notForReaders(d *document) string {
	switch {
	case j.spoken != "" && d.NaturalLanguage != "" && d.NaturalLanguage != j.spoken:
		return fmt.Sprintf("in %s, not in the README's language", d.NaturalLanguage)
	case j.isTranslation(d.Path):
		return "a translation"
	case d.ProseLines == 0 && d.Fences == 0 && d.Directives > 0:
		return "directives only"
	case d.ProseLines == 0 && len(d.Headings) == 0 && d.Fences == 0 && d.size < 200 && !page.IsLicence(path.Base(d.Path)):
		return "almost empty"
	case page.IsReadme(d.Path) && depth(d.Path) > 0 && !j.named.Targets[d.Path] && !j.isLively(path.Dir(d.Path)):
		return "describes a folder without code or other pages"
	case isInternal(d.Path) && !j.named.Targets[d.Path]:
		return "describes an internal part"
	case isSetAside(d.Path) && !j.named.Targets[d.Path]:
		return "not about the product itself"
	}
	return ""
}

// isLively tells a folder that holds code of a major language, or pages.
func (j *pageJudge) isLively(dir string) bool {
	for f := range j.files(scan.Source, scan.Document) {
		if strings.HasPrefix(f.Path, dir+"/") && !page.IsReadme(f.Path) && (f.Kind == scan.Document && page.Is(f.Path) ||
			f.Kind == scan.Source && !j.mix.isMinor(f.Language) && !j.isForeign(f)) {
			return true
		}
	}
	return false
}

var translated = regexp.MustCompile(`^(.+?)[._-](\w\w|\w\w[-_]\w\w)$`)

// isTranslation recognises README.de.md and guide.zh-CN.md beside the page they translate.
func (v *survey) isTranslation(p string) bool {
	ext := path.Ext(p)
	parts := translated.FindStringSubmatch(strings.TrimSuffix(p, ext))
	return parts != nil && v.byPath[parts[1]+ext] != nil
}

// formal sorts out the pages about the project rather than what it makes, by their titles and by the names that hosts
// look for.
func formal(d *document) (section, reason string) {
	stem := strings.NewReplacer("-", " ", "_", " ").Replace(stemOf(d.Path))
	title := strings.ToLower(d.Heading)
	if page.IsLicence(path.Base(d.Path)) {
		if depth(d.Path) > 0 {
			return "", "one licence is enough"
		}
		return Optional, "licence"
	}
	for _, f := range formalNames {
		for _, w := range f.words {
			if stem == w || title == w || len(w) > 8 && strings.HasPrefix(stem, w) || len(w) > 7 &&
				strings.HasPrefix(title, w) {
				return f.section, f.reason
			}
		}
	}
	return "", ""
}

// byTitle heeds the words of the title.
func byTitle(d *document) (section, reason string) {
	title := strings.ToLower(d.Heading)
	for _, s := range titleWords {
		for _, w := range s.words {
			if prose.HasWords(title, w) && (!weakTitles.Has(w) || title == w || strings.HasPrefix(title, w+" and ")) {
				return s.section, fmt.Sprintf("heading says %q", w)
			}
		}
	}
	return "", ""
}

// byNames tells the pages of a reference, whatever they are called.
func byNames(d *document) (section, reason string) {
	parts := 0
	for _, h := range d.Headings {
		if entryParts.Has(strings.ToLower(strings.TrimSuffix(h, ":"))) {
			parts++
		}
	}
	switch {
	case parts >= 2:
		return secAPI, "headings are parameters and results"
	case d.Declared >= 3:
		return secAPI, "describes " + prose.Count(d.Declared, "name")
	}
	return "", ""
}

// byShape heeds what the page is made of.
func (j *pageJudge) byShape(d *document) (section, reason string) {
	names := 0
	for _, h := range d.Headings {
		if signature.MatchString(h) { // "new Foo(bar)", "app.use"
			names++
		}
	}
	switch {
	case names >= 3 && 2*names >= len(d.Headings):
		return secAPI, prose.Count(names, "heading") + " in code"
	case d.Steps >= 5 && d.Fences >= 4 && j.crowds[path.Dir(d.Path)] <= fewPages:
		return secTutorials, prose.Count(d.Steps, "step") + " with code"
	}
	return "", ""
}

var signature = regexp.MustCompile(`^([^(]*[\pL\pN_]\(.*\)|\S*::\S*|\pL[\pL\pN_#]*\.[\pL\pN_#]+)$`)
