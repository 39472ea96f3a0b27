package rank

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
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
	accessorDocs   = words.Of("starts of accessors' docs")
	headers        = words.Of("headers")
	privateHeaders = words.Of("ends of private headers")
)

// api fills the section with the most important symbols of what others can use:
// those with a doc, and those that the README uses.
func (j *sourceJudge) api(c choice) {
	var all, old []*candidate
	for _, section := range []string{secPackages, secSource, secCommands} {
		for i, x := range c[section] {
			if section != secCommands && j.isForOthers(x.Path) {
				for k, s := range x.Symbols {
					if y := j.apiLink(x, s); y != nil {
						y.Score += x.weights[k] - 2*i - j.distance(x)
						all = append(all, y)
					} else if y := j.oldLink(x, s); y != nil {
						old = append(old, y)
					}
				}
			}
			sortByLine(x.Symbols)
		}
	}
	if len(all) == 0 {
		all = old
	}
	slices.SortStableFunc(all, func(x, y *candidate) int { return cmp.Compare(y.Score, x.Score) })
	j.takeAPI(c, all)
}

// distance takes points from symbols of helpers and, where a package bears the repository's name, from those of others.
func (j *sourceJudge) distance(x *candidate) int {
	points := 0
	if isHelper(stemOf(x.Path)) {
		points += 40
	}
	if u := j.unitOf(x.Path); len(j.units) > 2 && u != j.main() && j.leads() {
		points += 30
	}
	return points
}

// apiLink is nil for a symbol that does not deserve a link.
func (j *sourceJudge) apiLink(x *candidate, s Symbol) *candidate {
	used := j.isUsed(x, s)
	note := j.symbolNote(x, s)
	if isType := s.Kind == surface.Type || s.Kind == surface.Module; note == "" && isType &&
		prose.SameWords(lastName(s.Name), stemOf(x.Path)) {
		note = methodsOf(x, s.Name)
	}
	switch {
	case s.Kind == surface.Constant || s.Kind == surface.Variable, isPrivateName(s.Name), isOwnConstructor(s.Name),
		isAccessor(s), strings.Contains(s.Doc, "eprecated"):
		return nil
	case note == "" && (!used || s.Kind == surface.Method || !x.exposed && hasReexports(j.byPath[x.Path])):
		return nil
	}
	y := &candidate{Link: Link{Path: cmp.Or(s.File, x.Path), URL: s.URL, Title: j.qualified(x, s), Note: note},
		kind: s.Kind}
	y.add(250, "public "+string(s.Kind))
	if used {
		y.used = true
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
	if f != nil && (f.Language == "Go" || f.Language == "Rust") {
		note = golang.WithoutDocLinks(note)
	}
	if f != nil && (f.Language == "C++" || f.Language == "Python") {
		note = page.Unstarred(note)
	}
	return page.WithoutLead(note)
}

// oldLink is for what is deprecated, in want of anything else.
func (j *sourceJudge) oldLink(x *candidate, s Symbol) *candidate {
	if !strings.Contains(s.Doc, "eprecated") || isPrivateName(s.Name) || s.Kind == surface.Constant ||
		s.Kind == surface.Variable {
		return nil
	}
	return &candidate{Link: Link{Path: cmp.Or(s.File, x.Path), URL: s.URL, Title: j.qualified(x, s),
		Note: prose.Sentence(s.Doc), Score: 200, Reasons: []string{"deprecated, but there is nothing else"}}, kind: s.Kind}
}

// isUsed tells whether the README's code uses the symbol: calls it as a member, or names it by a name that is no
// common word.
func (j *sourceJudge) isUsed(x *candidate, s Symbol) bool {
	last := lastName(s.Name)
	if len(last) < 3 || j.uses(x, s.Symbol) == 0 {
		return false
	}
	return s.Kind == surface.Type && isTelling(last) || s.Kind == surface.Function && j.named.Members[last] > 0 ||
		isTelling(last)
}

// isTellingDoc wants a few words that are no code and do not repeat the name.
func isTellingDoc(s Symbol) bool {
	return strings.Count(strings.TrimSpace(s.Doc), " ") > 1 && !strings.Contains(s.Doc, "@__") &&
		!prose.IsBoilerplate(s.Doc) && !prose.IsBanner(s.Doc) && !isCodeLine(s.Doc) &&
		!prose.SameWords(s.Doc, lastName(s.Name))
}

// isPrivateName holds for names that say that they are not for others: "_x", "$x", and what stands in a namespace for
// details.
func isPrivateName(name string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".:#/\\", r) }) {
		if part[0] == '_' && !strings.HasPrefix(part, "__init__") || part[0] == '$' {
			return true
		}
		if privatePlaces.Has(strings.ToLower(part)) {
			return part != name && lastName(name) != part
		}
	}
	return false
}

// isAccessor holds for methods that only give or take a value.
func isAccessor(s Symbol) bool {
	last := lastName(s.Name)
	if s.Kind != surface.Method {
		return false
	}
	if strings.HasSuffix(last, "=") || strings.HasPrefix(s.Doc, last+" implements ") {
		return true
	}
	doc := strings.ToLower(s.Doc)
	for _, start := range []string{"get", "set", "is", "has"} {
		rest := strings.TrimPrefix(strings.TrimPrefix(last, start), strings.ToUpper(start[:1])+start[1:])
		if rest == last || rest == "" || rest[0] != '_' && !unicode.IsUpper(rune(rest[0])) {
			continue
		}
		if accessorDocs.Start(strings.TrimPrefix(doc, strings.ToLower(last)+" ")) {
			return true
		}
	}
	return false
}

// isOwnConstructor holds for "Element.Element": the type says as much.
func isOwnConstructor(name string) bool {
	last := lastName(name)
	if last == "constructor" || last == "__init__" || last == "__construct" {
		return true
	}
	owner := strings.TrimRight(strings.TrimSuffix(name, last), ".:#")
	return owner != "" && lastName(owner) == last
}

// isCodeLine tells a comment that holds code, or the end of a sentence.
func isCodeLine(s string) bool {
	return strings.HasSuffix(s, ";") || strings.HasSuffix(s, "{") || strings.Contains(s, "=>") || strings.Contains(s,
		" | ") || strings.HasPrefix(s, "(") || strings.HasPrefix(s, "Use ") && strings.Contains(s, " instead") ||
		strings.HasPrefix(s, "export ") || strings.HasPrefix(s, "const ")
}

func filesOf(list []*candidate) int {
	files := make(map[string]bool)
	for _, x := range list {
		files[x.Path] = true
	}
	return len(files)
}

func (j *sourceJudge) takeAPI(c choice, all []*candidate) {
	used, seen := make(map[string]int), make(map[string]bool)
	perFile, most := apiOfOneFile, apiLinks
	switch files := filesOf(all); {
	case len(j.golang.packages) == 0 && files >= manyFiles:
		perFile = apiOfManyFiles
	case !j.golang.isSmall():
		perFile = max(perFile, min(apiOfOnePackage, 2*apiLinks/max(1, len(c[secPackages]))))
	}
	if !j.links.hasLines() {
		perFile, most = apiOfOneURL, apiFiles
	}
	room := min(most, j.caps.Links/3) - len(c[secAPI])
	var list []*candidate
	families := make(map[string]bool)
	for _, x := range all {
		key := x.Path
		if p := j.golang.of(x.Path); p != nil && !j.golang.isSmall() {
			key = p.dir
		}
		family := x.Path + "\n" + withoutDigits(x.Title)
		again := families[family] || seen[x.Title+"\n"+x.Path] || x.Note != "" && seen[x.Note] || x.Note == "" && seen[x.Title]
		if again || used[key] == perFile || len(list) >= room {
			continue
		}
		seen[x.Title+"\n"+x.Path], seen[x.Note], seen[x.Title] = true, true, true
		families[family] = true
		used[key]++
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(x, y *candidate) int { return cmp.Compare(x.place(), y.place()) })
	c[secAPI] = append(c[secAPI], list...)
}

// withoutDigits is the name that a family has in common: Either3 and Either4 are of Either.
func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}

// place puts what the README uses first, then types, then what is called.
func (c *candidate) place() int {
	switch {
	case c.used:
		return 0
	case c.kind == surface.Type || c.kind == surface.Module:
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
	if f == nil || isInternal(p) || isSetAside(p) || j.isProgram(j.unitOf(p)) {
		return false
	}
	switch f.Language {
	case "Go":
		pkg := j.golang.of(p)
		return pkg == nil || !pkg.isCommand()
	case "C", "C++":
		return j.isPublicHeader(p)
	}
	return true
}

// isProgram holds for the packages that nobody can build upon.
func (v *survey) isProgram(u *unit) bool {
	switch u.about.Ecosystem {
	case "npm":
		return u.about.Private
	case "cargo":
		for e := range u.entries {
			if stemOf(e) == "lib" {
				return false
			}
		}
		return u.about.Name != "" && v.byPath[path.Join(u.dir, "src/lib.rs")] == nil
	}
	return false
}

// isPublicHeader holds for what a library of C or C++ shows: the headers below include, else those that bear the
// project's name, else all.
func (j *sourceJudge) isPublicHeader(p string) bool {
	if !isHeader(p) || isPrivateHeader(p) {
		return false
	}
	if j.headers == nil {
		j.headers = j.publicHeaders()
	}
	return j.headers[p]
}

func (j *sourceJudge) publicHeaders() map[string]bool {
	below, named, all := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	names := append(j.names(), strings.ToLower(j.title()), strings.ToLower(path.Base(j.repo.Name)))
	for i := range j.repo.Files {
		p := j.repo.Files[i].Path
		if !isHeader(p) || isPrivateHeader(p) {
			continue
		}
		all[p] = true
		if strings.Contains("/"+path.Dir(p)+"/", "/include/") {
			below[p] = true
		}
		if slices.ContainsFunc(names, func(n string) bool { return prose.SameWords(n, stemOf(p)) }) {
			named[p] = true
		}
	}
	switch {
	case len(below) > 0:
		return below
	case j.hasMain(names):
		return map[string]bool{}
	case len(named) > 0:
		return named
	}
	return all
}

// hasMain looks for the entrance of a program in the files that would have it.
func (j *sourceJudge) hasMain(names []string) bool {
	for i := range j.repo.Files {
		f := &j.repo.Files[i]
		if f.Language != "C" && f.Language != "C++" || isHeader(f.Path) {
			continue
		}
		stem := stemOf(f.Path)
		if stem != "main" && stem != "server" && !slices.Contains(names, stem) {
			continue
		}
		if text := j.head(f.Path, perPackage); strings.Contains(text, "main(int ") ||
			strings.Contains(text, "main(void)") {
			return true
		}
	}
	return false
}

func isHeader(p string) bool { return headers.Has(path.Ext(p)) }

func isPrivateHeader(p string) bool {
	for part := range strings.SplitSeq(strings.ToLower(strings.TrimSuffix(p, path.Ext(p))), "/") {
		if privatePlaces.Has(part) || foreignPlaces.Has(part) || part == "config" || privateHeaders.End(part) {
			return true
		}
	}
	return false
}
