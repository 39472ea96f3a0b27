package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// What the section holds at most. Where symbols have no address of their own, fewer of one file are enough.
const (
	apiLinks     = 30
	apiFiles     = 24 // for want of addresses
	apiOfOneFile = 6
	apiOfOneURL  = 3

	manyFiles      = 8 // of which fewer of each are enough
	apiOfManyFiles = 4

	apiOfOnePackage = 10
)

var (
	accessor     = regexp.MustCompile(`^([gG]et|[sS]et|[iI]s|[hH]as)[_\p{Lu}]`)
	accessorDocs = words.Of("starts of accessors' docs")
	digits       = regexp.MustCompile(`\pN`)
	headers      = words.Of("headers")
)

// api fills the section with the most important symbols of what others can use:
// those with a doc, and those that the README uses.
func (j *sourceJudge) api(c choice) {
	var all []*candidate
	for _, section := range []string{secPackages, secSource} {
		for i, x := range c[section] {
			if !j.isForOthers(x.Path) {
				continue
			}
			for _, s := range x.Symbols {
				if y := j.apiLink(x, s); y != nil {
					y.Score += s.weight - 2*i - j.distance(x)
					all = append(all, y)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(x, y *candidate) int { return cmp.Compare(y.Score, x.Score) })
	j.takeAPI(c, all)
	for _, x := range slices.Concat(c[secPackages], c[secSource], c[secCommands]) {
		slices.SortStableFunc(x.Symbols, func(p, q Symbol) int {
			return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
		})
	}
}

// distance takes points from symbols of helpers and, where a package bears the repository's name, from those of others.
func (j *sourceJudge) distance(x *candidate) int {
	points := 0
	if isHelper(stemOf(x.Path)) {
		points += 40
	}
	if u := j.unitOf(x.Path); len(j.units) > 2 && u != j.main() && j.leads {
		points += 30
	}
	return points
}

// apiLink is nil for a symbol that does not deserve a link.
func (j *sourceJudge) apiLink(x *candidate, s Symbol) *candidate {
	used, note := j.isUsed(x, s), j.symbolNote(x, s)
	y := &candidate{Link: Link{Path: cmp.Or(s.File, x.Path), URL: s.URL, Title: j.qualified(x, s)}, kind: s.Kind,
		used: used}
	if isType(s.Kind) && note == "" && prose.SameWords(lastName(s.Name), stemOf(x.Path)) {
		note = methodsOf(x, s.Name)
	}
	switch {
	case s.Kind == surface.Constant || s.Kind == surface.Variable || isPrivateName(s.Name),
		strings.Contains(s.Doc, "eprecated"):
		return nil
	case isOwnConstructor(s.Name), isAccessor(s), s.Kind == surface.Function && s.Name == "main":
		return nil
	case !used && j.isOptions(x, s):
		return nil
	case note != "":
	case !used, s.Kind == surface.Method, s.Kind == surface.Module && !prose.SameWords(lastName(s.Name), stemOf(x.Path)),
		!x.exposed && source.Of(j.byPath[x.Path].Language).Reexports != nil:
		return nil
	}
	y.Note = note
	y.add(250, "public "+string(s.Kind))
	if used {
		y.add(10, "used by the README's code")
	}
	return y
}

// symbolNote is the symbol's doc where it says something. That of a module which many files open is about the file.
func (j *sourceJudge) symbolNote(x *candidate, s Symbol) string {
	if !isTellingDoc(s) || s.Kind == surface.Module && !prose.SameWords(lastName(s.Name), stemOf(x.Path)) &&
		!strings.Contains(s.Doc, lastName(s.Name)) {
		return ""
	}
	note := prose.Sentence(s.Doc)
	f := j.byPath[cmp.Or(s.File, x.Path)]
	if f != nil && (f.Language == "C++" || f.Language == "Python") {
		note = page.Unstarred(note)
	}
	return page.WithoutLead(note)
}

// isUsed tells whether the README's code uses the symbol: calls it as a member, or names it by a name that is no
// common word.
func (j *sourceJudge) isUsed(x *candidate, s Symbol) bool {
	last := lastName(s.Name)
	return len(last) > 2 && j.uses(x, s.Symbol) > 0 && (isTelling(last) || isType(s.Kind) && isInitials(last) ||
		s.Kind == surface.Function && j.named.Members[last] > 0)
}

// isTellingDoc wants a few words that are no code and do not repeat the name.
func isTellingDoc(s Symbol) bool {
	return strings.Count(strings.TrimSpace(s.Doc), " ") > 1 && !strings.Contains(s.Doc, "@__") &&
		!prose.IsBoilerplate(s.Doc) && !prose.IsBanner(s.Doc) && !isCodeLine(s.Doc) &&
		!prose.SameWords(s.Doc, lastName(s.Name))
}

// isPrivateName holds for names that say that they are not for others: "_x", "$x".
func isPrivateName(name string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".:#/\\", r) }) {
		if part[0] == '_' && !strings.HasPrefix(part, "__init__") || part[0] == '$' {
			return true
		}
	}
	return false
}

// isAccessor holds for methods that only give or take a value.
func isAccessor(s Symbol) bool {
	last := lastName(s.Name)
	return s.Kind == surface.Method && (strings.HasSuffix(last, "=") || strings.HasPrefix(s.Doc, last+" implements ") ||
		accessor.MatchString(last) &&
			accessorDocs.Start(strings.TrimPrefix(strings.ToLower(s.Doc), strings.ToLower(last)+" ")))
}

// isOptions holds for a type that is only the argument of the function beside it: AddDaysOptions of addDays.
func (j *sourceJudge) isOptions(x *candidate, s Symbol) bool {
	stem, ok := strings.CutSuffix(s.Name, "Options")
	return ok && stem != "" && j.declared[strings.ToLower(stem[:1])+stem[1:]][cmp.Or(s.File, x.Path)]
}

// isOwnConstructor holds for "Element.Element": the type says as much.
func isOwnConstructor(name string) bool {
	last := lastName(name)
	if last == "constructor" || last == "__init__" || last == "__construct" {
		return true
	}
	return lastName(ownerOf(name)) == last
}

// isCodeLine tells a comment that holds code, or the end of a sentence.
func isCodeLine(s string) bool {
	return prose.EndsWithAny(s, ";", "{") || prose.ContainsAny(s, "=>", " | ") || prose.StartsWithAny(s, "(", "export ",
		"const ") || strings.HasPrefix(s, "Use ") && strings.Contains(s, " instead")
}

func (j *sourceJudge) takeAPI(c choice, all []*candidate) {
	used, seen, files := make(map[string]int), make(map[string]bool), make(map[string]bool)
	for _, x := range all {
		files[x.Path] = true
	}
	perFile, most := apiOfOneFile, apiLinks
	switch {
	case len(j.golang) == 0 && len(files) >= manyFiles:
		perFile = apiOfManyFiles
	case !j.golang.isSmall():
		perFile = max(perFile, min(apiOfOnePackage, 2*apiLinks/max(1, len(c[secPackages]))))
	}
	if !j.links.hasLines() {
		perFile, most = apiOfOneURL, apiFiles
	}
	room := min(most, j.caps.Links/3) - len(c[secAPI])
	var list []*candidate
	for _, x := range all {
		key := x.Path
		if p := j.golang.of(x.Path); p != nil && !j.golang.isSmall() {
			key = p.dir
		}
		family := x.Path + "\n" + digits.ReplaceAllString(x.Title, "") // Either3 and Either4 are of Either
		if seen[family] || seen[cmp.Or(x.Note, x.Title)] || used[key] == perFile || len(list) >= room {
			continue
		}
		seen[family], seen[x.Note], seen[x.Title] = true, true, true
		used[key]++
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(x, y *candidate) int { return cmp.Compare(x.place(), y.place()) })
	c[secAPI] = append(c[secAPI], list...)
}

// place puts what the README uses first, then types, then what is called.
func (c *candidate) place() int {
	switch {
	case c.used:
		return 0
	case isType(c.kind):
		return 1
	case c.kind == surface.Method:
		return 3
	}
	return 2
}

// isForOthers tells the files whose symbols others can use: not those of programs, of private packages, or of a part
// that calls itself internal.
func (j *sourceJudge) isForOthers(p string) bool {
	f := j.byPath[p]
	switch {
	case f == nil || isInternal(p) || isSetAside(p) || j.isProgram(j.unitOf(p)):
		return false
	case f.Language == "Rust" && j.unitOf(p).about.Ecosystem == "pypi":
		return false // what the package is made of
	case f.Language == "Go":
		pkg := j.golang.of(p)
		return pkg == nil || !pkg.isCommand()
	case f.Language == "C" || f.Language == "C++":
		return isIncluded(p) || !j.includes && headers.Has(path.Ext(p))
	}
	return true
}

// isProgram holds for the packages that nobody can build upon.
func (v *survey) isProgram(u *unit) bool {
	switch u.about.Ecosystem {
	case "npm":
		return u.about.Private
	case "cargo":
		entries := u.about.Entries // the library's is the first
		return len(entries) > 0 && v.resolveEntry(u.dir, entries[0]) == ""
	}
	return false
}

// isIncluded holds for a header of C or C++ in the folder that a library shows to others.
func isIncluded(p string) bool {
	return headers.Has(path.Ext(p)) && strings.Contains("/"+path.Dir(p)+"/", "/include/")
}
