package rank

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// mostExamples are held against the README.
const mostExamples = 300

var exampleFolders = words.Of("folders of examples")

// examples lists one entrance for each example: its README, else its main file, else its first.
func (j *judge) examples() []*candidate {
	chosen := make(map[string]string)
	for _, f := range j.repo.Files {
		if f.Place != scan.Example && !j.isIllustration(&f) || f.Size == 0 || !page.Is(f.Path) && f.Kind != scan.Source ||
			page.IsLicence(path.Base(f.Path)) || noPages.Has(stemOf(f.Path)) || isBuildScript(f.Path) ||
			filesOfPackages.Has(stemOf(f.Path)) ||
			f.Kind == scan.Source && j.mix.sum > 0 && j.mix.bytes[f.Language] == 0 || j.isTranslation(f.Path) {
			continue
		}
		dir := exampleDir(f.Path)
		if old, ok := chosen[dir]; !ok || compareBy(exampleRank)(f.Path, old) < 0 {
			chosen[dir] = f.Path
		}
	}
	dirs := slices.SortedFunc(maps.Keys(chosen), compareBy(func(string) int { return 0 }))
	var list []*candidate
	for _, dir := range dirs[:min(len(dirs), mostExamples)] {
		p := chosen[dir]
		c := &candidate{Link: Link{Path: p, Title: dir}}
		c.add(300-6*depth(dir), "an example")
		j.credit(c)
		if j.named.Path(dir) && !j.named.Targets[p] {
			c.add(20, "named in the README")
		}
		if page.IsReadme(p) {
			c.Title = ""
			c.add(10, "has a README")
		}
		list = append(list, c)
	}
	slices.SortFunc(list, byScore)
	return list
}

// isIllustration holds for code below the documentation, where it shows how the product is used.
func (v *survey) isIllustration(f *scan.File) bool {
	top, _, below := strings.Cut(strings.ToLower(f.Path), "/")
	return below && (top == "docs" || top == "doc") && f.Kind == scan.Source && f.Place == scan.Product &&
		f.Package == "" && !v.mix.isMinor(f.Language) && !isBuildScript(f.Path) && !strings.Contains(f.Path, "/_") &&
		v.root().entries[f.Path].from == ""
}

// exampleDir is the folder directly below the examples, or the file itself where it stands there alone.
func exampleDir(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if exampleFolders.Has(strings.ToLower(part)) {
			return strings.Join(parts[:min(i+2, len(parts))], "/")
		}
	}
	if dir := path.Dir(p); strings.Contains(dir, "/") {
		return dir
	}
	return p
}

func exampleRank(p string) int {
	switch {
	case page.IsReadme(p):
		return 0
	case stemOf(p) == "main" || stemOf(p) == "index" || stemOf(p) == "app":
		return 1
	}
	return 2
}
