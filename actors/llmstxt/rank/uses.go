package rank

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// declarers gives for the last part of each name the files that declare it, of those that are listed.
type declarers map[string]map[string]bool

func (d declarers) take(x *candidate, o surface.Outline) {
	for _, s := range o.Symbols {
		last := lastName(s.Name)
		if d[last] == nil {
			d[last] = make(map[string]bool)
		}
		d[last][cmp.Or(s.File, x.Path)] = true
	}
}

// uses counts how often the README's code uses the symbol as such. A name alone may be that of another symbol: it
// counts with its package, module or type before it, where the package shows it at its entrance, where the code names
// the file, or where no other file declares it; in Go the code must then name the package, too.
func (b *builder) uses(x *candidate, s surface.Symbol) int {
	file, last := cmp.Or(s.File, x.Path), lastName(s.Name)
	f := b.byPath[file]
	if f != nil && f.Language == "Go" {
		return b.goUses(file, s.Kind, last)
	}
	n, stem := b.named.words[last], stemName(file)
	if n == 0 || x.exposed || len(b.declared[last]) == 1 || b.named.word(stem) || b.named.word(dotted(file)) {
		return n
	}
	owner := lastName(strings.TrimRight(strings.TrimSuffix(s.Name, last), ".:#/\\"))
	if isEntrance(stem) || f != nil && namesClasses(f.Language) {
		stem = path.Base(path.Dir(file))
	}
	return max(b.named.pairs[pair(owner, last)], b.named.pairs[pair(stem, last)])
}

// isEntrance holds for the files that one opens by the name of their folder.
func isEntrance(stem string) bool {
	return stem == "__init__" || stem == "index" || stem == "mod" || stem == "lib"
}

func (b *builder) goUses(file string, kind surface.Kind, last string) int {
	p := b.golang.of(file)
	if p == nil {
		return 0
	}
	n := b.named.pairs[pair(p.name, last)]
	if kind == surface.Type {
		n = max(n, b.named.pairs[pair(p.name, "New"+last)]) // what the README makes
	}
	if n == 0 && len(b.declared[last]) == 1 && (b.named.owners[p.name] || b.named.path(p.importer)) {
		n = b.named.words[last]
	}
	return n
}

// pair is a name with what stands before it. Only the name keeps its case, for a variable often is called like its
// type.
func pair(owner, name string) string { return strings.ToLower(owner) + "." + name }

func stemName(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	return stem
}
