package rank

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// Each name is one word.
const (
	secDocs          = "Docs"
	secTutorials     = "Tutorials"
	secPackages      = "Packages"
	secCommands      = "Commands"
	secAPI           = "API"
	secConcepts      = "Concepts"
	secConfiguration = "Configuration"
	secOperations    = "Operations"
	secExamples      = "Examples"
	secSource        = "Source"
	// those of books, of notebooks, and of applications
	secChapters  = "Chapters"
	secNotebooks = "Notebooks"
	secScreens   = "Screens"
	secHandlers  = "Handlers"
	secData      = "Data"
	secWiring    = "Wiring"
)

// sections are in their order, each with what a page in it begins with, and how many halves of the cap it takes.
var sections = []struct {
	name           string
	points, halves int
}{
	{secDocs, 500, 2}, {secChapters, 500, 8}, {secNotebooks, 500, 8}, {secTutorials, 500, 2}, {secPackages, 300, 2},
	{secCommands, 300, 1}, {secWiring, 400, 1}, {secScreens, 400, 2}, {secHandlers, 400, 2}, {secData, 400, 2},
	{secAPI, 480, 3},
	{secConcepts, 480, 2}, {secConfiguration, 440, 1}, {secOperations, 440, 1}, {secExamples, 400, 1},
	{secSource, 300, 3}, {Optional, 100, 1},
}

var sectionNames = func() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}()

func pointsOf(section string) int {
	return sections[slices.Index(sectionNames, section)].points
}

// capOf bounds a section; the caps of the caller bound them all.
func (v *survey) capOf(section string) int {
	return (v.caps.PerSection*sections[slices.Index(sectionNames, section)].halves + 1) / 2
}

// weight is what speaks for a file or, with points below zero, against it. Only a reason that speaks for it is told.
type weight[J, T any] struct {
	points int
	reason string
	holds  func(J, T) bool
}

var sourceWeights = []weight[*sourceJudge, *sourceFile]{
	{40, "of the package that the repository is about", func(j *sourceJudge, s *sourceFile) bool {
		return len(j.units) > 2 && j.unitOf(s.Path) == j.main() && j.leads
	}},
	{-60, "", func(j *sourceJudge, s *sourceFile) bool { return s.entry == "" && isAround(s.Path) }},
	{-60, "", func(j *sourceJudge, s *sourceFile) bool {
		u := j.unitOf(s.Path)
		return u != j.main() && len(j.units) > fewUnits && (u.about.Private && j.publishes() ||
			strings.Contains(strings.ToLower(u.about.Description), "internal"))
	}},
	{-24, "", func(_ *sourceJudge, s *sourceFile) bool { return isOnePlatform(s.Path) }},
	{-30, "", func(_ *sourceJudge, s *sourceFile) bool {
		return s.entry == "" && prose.EndsWithAny(s.name(), "Exception", "Error")
	}},
	{-60, "", func(j *sourceJudge, s *sourceFile) bool { return isHelper(stemOf(s.Path)) && s.entry == "" }},
	{10, "entry point, by its name", func(_ *sourceJudge, s *sourceFile) bool { return entryNames.Has(stemOf(s.Path)) }},
	{30, "has the name of the package", func(j *sourceJudge, s *sourceFile) bool {
		stem := stemOf(s.Path)
		return stem != "" && !entryNames.Has(stem) && (stem == strings.ToLower(moduleName(j.main().about.Name)) ||
			stem == strings.ToLower(j.readme.Title))
	}},
	{12, "declares an interface", func(_ *sourceJudge, s *sourceFile) bool {
		ext := path.Ext(s.Path)
		return (ext == ".h" || ext == ".hpp" || ext == ".mli") && s.declares > 3
	}},
	{-30, "", func(_ *sourceJudge, s *sourceFile) bool { return s.declares == 0 && s.entry == "" }},
	{-24, "", func(_ *sourceJudge, s *sourceFile) bool {
		base := path.Base(s.Path)
		return strings.HasPrefix(base, "_") && !strings.HasPrefix(base, "__") || stemOf(base) == "internal" ||
			strings.Contains(base, "-inl.")
	}},
	{-60, "", func(_ *sourceJudge, s *sourceFile) bool { return isPrivatePlace(s.Path) && s.entry == "" }},
	{-40, "", func(_ *sourceJudge, s *sourceFile) bool { return s.copied }},
	{-110, "", func(j *sourceJudge, s *sourceFile) bool { return s.hidden && !j.application }},
	{-30, "", func(_ *sourceJudge, s *sourceFile) bool { return stemOf(s.Path) == "version" && s.entry == "" }},
	{-100, "", func(_ *sourceJudge, s *sourceFile) bool {
		return isWording(s.Path) || isSetAside(s.Path) && s.entry == ""
	}},
	{-100, "", func(j *sourceJudge, s *sourceFile) bool { return j.isOlder(s.Path) }},
	{-20, "", func(_ *sourceJudge, s *sourceFile) bool { return s.file.Language == "Shell" && s.entry == "" }},
}

// publishes holds where a package of the repository is there for others.
func (v *survey) publishes() bool {
	return slices.ContainsFunc(v.units, func(u *unit) bool { return u.about.Name != "" && !u.about.Private })
}

var entryNames, foldersOfPosts = words.Of("entry names"), words.Of("folders of posts")

var pageWeights = []weight[*pageJudge, *document]{
	{30, "a manual page", func(_ *pageJudge, d *document) bool { return page.IsMan(d.Path) }},
	{-8, "", func(j *pageJudge, d *document) bool {
		return j.crowds[path.Dir(d.Path)] > manyPages && d.ProseLines < 40
	}},
	{-14, "", func(j *pageJudge, d *document) bool {
		return d.linked == 0 && d.ProseLines < 12 && !j.named.Targets[d.Path]
	}},
	{-40, "", func(_ *pageJudge, d *document) bool { return d.ProseLines < 3 }},
	{-60, "", func(j *pageJudge, d *document) bool { return isAround(d.Path) && !j.named.Targets[d.Path] }},
	{-30, "", func(_ *pageJudge, d *document) bool {
		return isInternal(d.Path) || slices.ContainsFunc(foldersOf(d.Path), foldersOfPosts.Has)
	}},
	{-20, "", func(j *pageJudge, d *document) bool {
		u := j.unitOf(d.Path)
		return u.dir != "." && u != j.main()
	}},
}
