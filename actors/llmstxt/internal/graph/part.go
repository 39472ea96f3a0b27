package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/resolve"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/stable"
)

// part is a package of the repository. One goroutine at a time works on it.
type part struct {
	id       string
	path     string // a folder, or the file of a module outside of packages
	name     string
	language string
	summary  string
	files    []*file // sorted by path
	bytes    int64
	unit     *rank.Unit // of the folder itself; nil if it has no manifest
	goPath   string     // import path of a Go package
	symbols  []surface.Symbol
	count    int  // number of all symbols
	partly   bool // not all files were read completely
	page     bool
}

// file is a source or a manifest of a part.
type file struct {
	*scan.File
	part  *part
	whole bool // it is read completely, for its symbols
	specs []string
}

// parts assigns the files to packages.
type parts struct {
	repo   *scan.Repository
	survey rank.Survey
	units  map[string]*rank.Unit // by folder
	byPath map[string]*part
}

// newParts returns parts without packages; list makes those.
func newParts(repo *scan.Repository, survey rank.Survey) *parts {
	ps := &parts{repo: repo, survey: survey, units: map[string]*rank.Unit{}, byPath: map[string]*part{}}
	for _, u := range survey.Units {
		if len(u.Manifests) > 0 {
			ps.units[u.Dir] = u
		}
	}
	return ps
}

// list returns the packages, in any order.
func (ps *parts) list() []*part {
	for i := range ps.repo.Files {
		if f := &ps.repo.Files[i]; resolve.IsImported(f) {
			ps.put(ps.placeOf(f), f)
		}
	}
	ps.addUnits()
	var list []*part
	for at, p := range ps.byPath {
		isProduct := slices.ContainsFunc(p.files, func(f *file) bool { return f.Place == scan.Product })
		if isProduct || ps.survey.Go[at] != "" { // a Go package may be generated as a whole
			ps.finish(p)
			list = append(list, p)
		}
	}
	return list
}

// placeOf returns the path of the package that the file belongs to.
func (ps *parts) placeOf(f *scan.File) string {
	dir := path.Dir(f.Path)
	if ps.survey.Go[dir] != "" {
		return dir
	}
	if f.Language == "Python" && !ps.survey.Imports.IsPackage(dir) {
		return f.Path
	}
	if u := ps.units[path.Dir(dir)]; u != nil && f.Language != "Python" && isSourceFolder(path.Base(dir), u) {
		return u.Dir
	}
	return dir
}

// isSourceFolder reports whether the folder holds the sources of the package around it.
func isSourceFolder(name string, u *rank.Unit) bool {
	if name == "src" {
		return true
	}
	switch u.About.Ecosystem {
	case "rubygems", "hex", "pub":
		return name == "lib"
	}
	return false
}

// put adds the file to the package at the path, and makes the package if needed.
func (ps *parts) put(at string, f *scan.File) {
	p := ps.byPath[at]
	if p == nil {
		p = &part{path: at}
		ps.byPath[at] = p
	}
	p.files = append(p.files, &file{File: f, part: p})
}

// addUnits adds the manifests to their folders, and makes packages of folders with a manifest but no source.
func (ps *parts) addUnits() {
	known := map[string]*scan.File{}
	for i := range ps.repo.Files {
		if f := &ps.repo.Files[i]; f.Kind == scan.Manifest && manifest.Known(f.Path) {
			known[f.Path] = f
		}
	}
	for _, u := range ps.survey.Units {
		needs := slices.ContainsFunc(u.Manifests, func(m manifest.Manifest) bool { return len(m.Dependencies) > 0 })
		isNamed := u.About.Name != "" && u.About.Ecosystem != "go" // Go modules themselves are not imported
		if ps.byPath[u.Dir] == nil && !needs && !isNamed {
			continue
		}
		for _, m := range u.Manifests {
			if f := known[m.Path]; f != nil {
				ps.put(u.Dir, f)
			}
		}
		if p := ps.byPath[u.Dir]; p != nil {
			p.unit = u
		}
	}
}

// finish fills in what the files of a package add up to: bytes, the language of most bytes, and the name.
func (ps *parts) finish(p *part) {
	stable.Sort(p.files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	languages := map[string]int64{}
	for _, f := range p.files {
		p.bytes += f.Size
		if f.Kind == scan.Source {
			languages[f.Language] += f.Size + 1 // an empty file has a language too
		}
		if languages[f.Language] > languages[p.language] {
			p.language = f.Language
		}
	}
	p.goPath = ps.survey.Go[p.path]
	if p.goPath != "" {
		p.language = "Go"
	}
	p.name = ps.nameOf(p)
}

// nameOf returns the name under which others use the package: its import path, the name in its manifest, or its module.
func (ps *parts) nameOf(p *part) string {
	switch {
	case p.goPath != "" && (p.goPath != "." || p.unit == nil):
		return cmp.Or(strings.TrimPrefix(p.goPath, "."), ps.repo.Name)
	case p.unit != nil && p.unit.About.Name != "":
		return p.unit.About.Name
	case p.language == "Python" && (ps.survey.Imports.IsPackage(p.path) || strings.HasSuffix(p.path, ".py")):
		return strings.ReplaceAll(ps.survey.Imports.Module(p.path), "/", ".")
	case p.path == ".":
		return cmp.Or(ps.repo.Name, rootID)
	case source.Family(p.language) == "jvm":
		return jvmName(p.path)
	}
	return p.path
}

// jvmName returns the part of a path after the folder of the language, as in src/main/java.
func jvmName(p string) string {
	for _, root := range []string{"java/", "kotlin/", "scala/", "groovy/"} {
		if _, name, ok := strings.Cut("/"+p, "/main/"+root); ok {
			return strings.ReplaceAll(name, "/", ".")
		}
	}
	return p
}
