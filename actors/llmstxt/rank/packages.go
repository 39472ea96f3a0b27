package rank

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
)

// packageBytes of a Go file are read for its package comment, which may run to many pages before the package clause.
const packageBytes = 256 << 10

// fewPublic packages make internal ones worth listing.
const fewPublic = 5

// packages lists importable packages: the root, then by importers, then the shallow ones. Internal ones follow where
// there are few others.
func (j *sourceJudge) packages() []*candidate {
	public, internal := j.golang.importable()
	order := func(x, y *goPackage) int {
		if x.dir == "." || y.dir == "." {
			return strings.Compare(x.dir, y.dir)
		}
		return cmp.Or(y.fanIn-x.fanIn, depth(x.dir)-depth(y.dir), strings.Compare(x.dir, y.dir))
	}
	slices.SortFunc(public, order)
	slices.SortFunc(internal, order)
	if len(public) < fewPublic {
		public = append(public, internal...)
	} else {
		for _, p := range internal {
			j.pass(p.files[0], 10+p.fanIn, "an internal package, imported by "+prose.Count(p.fanIn, "package"))
		}
	}
	list := j.packageLinks(public, j.capOf(secPackages))
	for i, c := range list {
		c.Score = 560 - 8*i
		p := public[i]
		if p.dir == "." {
			c.Reasons = append(c.Reasons, "package at the root")
		}
		if p.fanIn > 0 {
			c.Reasons = append(c.Reasons, "imported by "+prose.Count(p.fanIn, "package"))
		}
		if p.isInternal() {
			c.Score -= 140
			c.Reasons = append(c.Reasons, "internal, but there are few other packages")
		}
		if len(c.Reasons) == 0 {
			c.Reasons = append(c.Reasons, "a public package")
		}
	}
	return list
}

// goCommands lists what can be run.
func (j *sourceJudge) goCommands() []*candidate {
	list := j.golang.commands()
	out := j.packageLinks(list, j.capOf(secCommands))
	for i, c := range out {
		c.Score = 470 - 6*i
		c.Reasons = append(c.Reasons, "package main")
		if list[i].dir == "." {
			c.add(60, "at the root")
		}
		if j.named.Path(list[i].dir) {
			c.add(40, "named in the README")
		}
	}
	return out
}

// packageLinks points each package to the file with its comment, or else to the file that bears its name.
func (j *sourceJudge) packageLinks(list []*goPackage, most int) []*candidate {
	for _, p := range list[min(len(list), most):] {
		j.pass(p.files[0], 100+p.fanIn, "ranks below "+prose.Count(most, "other package"))
	}
	var links []*candidate
	for _, p := range list[:min(len(list), most)] {
		file, note := j.packageDoc(p)
		title := p.dir
		switch {
		case p.dir != ".":
		case p.isCommand():
			title = cmp.Or(moduleName(p.importer), p.name)
		default:
			title = p.name
		}
		links = append(links, &candidate{Link: Link{Path: file, Title: title, Note: note}})
	}
	return links
}

// packageDoc finds the file with the package comment, in the order in which one would look, and its first sentence.
// Without one it is the first file.
func (v *survey) packageDoc(p *goPackage) (file, note string) {
	files := slices.SortedFunc(slices.Values(p.files), compareBy(p.docRank))
	for _, f := range files {
		if note := golang.Synopsis(v.head(f, packageBytes), p.name); note != "" {
			return f, prose.Shorten(note, prose.SentenceRunes)
		}
	}
	return files[0], ""
}

// docRank knows no folder's name, so that the note does not depend on it.
func (p *goPackage) docRank(file string) int {
	switch path.Base(file) {
	case "doc.go", "alldocs.go":
		return 0
	case p.name + ".go", "main.go":
		return 1
	}
	return 2
}

// goPurposes is what the packages say that the whole may be about: the one at the root, the one that bears the
// module's name, the only command.
func (v *survey) goPurposes() (list []purpose) {
	commands, module := v.golang.commands(), moduleName(v.root().about.Name)
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
