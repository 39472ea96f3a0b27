package rank

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// uses counts how often the README's code uses the symbol as such. A name alone may be that of another symbol: it
// counts with its package, module or type before it, where the package shows it at its entrance, where the code names
// the file, or where no other file declares it; in Go the code must then name the package, too.
func (j *sourceJudge) uses(x *candidate, s surface.Symbol) int {
	file, last := cmp.Or(s.File, x.Path), lastName(s.Name)
	f := j.byPath[file]
	if f != nil && f.Language == "Go" {
		return j.goUses(file, s.Kind, last)
	}
	n, stem := j.named.Words[last], stemName(file)
	if n == 0 || x.exposed || len(j.declared[last]) == 1 || j.named.Word(stem) || j.named.Word(dotted(file)) {
		return n
	}
	owner := lastName(strings.TrimRight(strings.TrimSuffix(s.Name, last), ".:#/\\"))
	if entrances.Has(stem) || f != nil && source.Of(f.Language).Classes {
		stem = path.Base(path.Dir(file))
	}
	return max(j.named.Pairs[page.Pair(owner, last)], j.named.Pairs[page.Pair(stem, last)])
}

func (j *sourceJudge) goUses(file string, kind surface.Kind, last string) int {
	p := j.golang.of(file)
	if p == nil {
		return 0
	}
	n := j.named.Pairs[page.Pair(p.name, last)]
	if kind == surface.Type {
		n = max(n, j.named.Pairs[page.Pair(p.name, "New"+last)]) // what the README makes
	}
	if n == 0 && len(j.declared[last]) == 1 && (j.named.Owners[p.name] || j.named.Path(p.importer)) {
		n = j.named.Words[last]
	}
	return n
}

// credit says what the text has to do with the file. A stem alone does not tell
// which of several files by that name is meant.
func (v *survey) credit(c *candidate) {
	base := path.Base(c.Path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case v.named.Targets[c.Path]:
		c.add(30, "linked from the README")
	case strings.Contains(base, ".") && stemOf(c.Path) != "readme" && stemOf(c.Path) != "index" && v.named.Path(base):
		c.add(20, "named in the README")
	case isTelling(stem) && v.named.Word(stem) && v.bases[base] < 2, v.named.Word(dotted(c.Path)):
		c.add(16, "used by the README's code")
	}
}

// isTelling holds for stems that are hardly a word of some sentence.
func isTelling(stem string) bool {
	return len(stem) > 2 && stem != strings.ToLower(stem) && stem != strings.ToUpper(stem)
}

// dotted is the last two parts of a path as a module: "rich.console".
func dotted(p string) string {
	dir := path.Base(path.Dir(p))
	if dir == "." {
		return ""
	}
	return dir + "." + strings.TrimSuffix(path.Base(p), path.Ext(p))
}

func stemName(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	return stem
}
