package rank

import (
	"cmp"
	"path"
	"slices"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
	"github.com/seed889630bf/lastword/messages/words"
)

// packageBytes is how much of a Go file is read for its package comment, which may have many pages before the package
// clause.
const packageBytes = 256 << 10

// findPackages gives points to the files that represent packages: those of Go, and those of a workspace.
func (r *ranking) findPackages() {
	most := 0
	for _, p := range r.golang {
		most = max(most, p.fanIn)
	}
	type doc struct{ file, note string }
	for i, said := range each(r.survey, len(r.golang), func(v *survey, i int) (said doc) {
		if p := v.golang[i]; p.place == scan.Product {
			said.file, said.note = v.packageDoc(p)
		}
		return said
	}) {
		p, x := r.golang[i], r.at[said.file]
		if x == nil {
			continue
		}
		x.members, x.command, x.Note = p.dir, p.isCommand(), said.note
		x.add(0.75*logShare(p.fanIn, most), "imported by "+words.Count(p.fanIn, "package"))
		switch {
		case p.dir == ".":
			x.members = cmp.Or(moduleName(p.importer), p.name)
			x.add(0.8, "package at the root")
		case p.isCommand():
			x.add(0.5, "package main")
		case p.isInternal():
			x.add(0.1, "an internal package")
		default:
			x.add(0.4, "a public package")
		}
		if x.points += 0.5; r.named.Path(p.dir) {
			x.add(0.6, "named in the README")
		}
		r.faces[p.dir] = x
	}
}

// findMembers gives points to the packages of a workspace.
func (r *ranking) findMembers() {
	for _, u := range r.membersOf() {
		x := r.face(u)
		if x == nil || x.members != "" {
			continue
		}
		x.members = cmp.Or(u.About.Name, u.Dir)
		x.Note = cmp.Or(x.Note, prose.Informative(u.About.Description))
		x.add(0.6-0.05*float64(depth(u.Dir)), ofWorkspace)
		if u == r.main() {
			x.add(0.5, "has the name of the repository")
		}
		r.faces[u.Dir] = x
	}
}

// packageDoc finds the file with the package comment, in the order in which people would look, and its first
// sentence. Without a comment it returns the file with the package's name, or else the first file.
func (v *survey) packageDoc(p *goPackage) (file, note string) {
	files := slices.SortedFunc(slices.Values(p.files), compareBy(p.docRank))
	for _, f := range files {
		if note := golang.Synopsis(v.head(f, packageBytes), p.name); note != "" {
			return f, prose.Shorten(note, prose.SentenceRunes)
		}
	}
	return files[0], ""
}

// docRank ignores the folder's name, so that the note does not depend on it.
func (p *goPackage) docRank(file string) int {
	switch path.Base(file) {
	case "doc.go", "alldocs.go":
		return 0
	case p.name + ".go", "main.go":
		return 1
	}
	return 2
}

// goPurposes returns the descriptions of packages that may describe the whole: the root package, the package with the
// module's name, and the only command.
func (v *survey) goPurposes() (list []purpose) {
	commands, module := v.golang.commands(), moduleName(v.root().About.Name)
	for _, p := range v.golang {
		isOnly := len(commands) == 1 && p == commands[0]
		if p.place != scan.Product || p.dir != "." && !isOnly && (p.isInternal() || moduleName(p.importer) != module) {
			continue
		}
		if file, note := v.packageDoc(p); note != "" {
			list = append(list, purpose{text: note, from: file, reason: "comment of package " + p.name, points: 4,
				whole: true})
		}
	}
	return list
}
