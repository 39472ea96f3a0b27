package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/repository/manifest"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
	"github.com/seed889630bf/lastword/actors/repository/source/python"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// part is a package of the repository.
type part struct {
	id       string
	path     string // folder, or the file of a module that is in no package
	name     string
	language string
	summary  string
	files    []*file // sorted by path
	bytes    int64
	unit     *rank.Unit // of the folder itself, or nil
	goPath   string     // import path
	symbols  []surface.Symbol
	count    int  // of all symbols
	partly   bool // not all files were read whole
	page     bool
}

// file is a source, or a manifest, of a part.
type file struct {
	*scan.File
	part  *part
	take  int64 // bytes to read; 0 for none
	whole bool  // for its symbols, too
	specs []string
}

// parts sorts the files into packages.
type parts struct {
	repo   *scan.Repository
	survey rank.Survey
	units  map[string]*rank.Unit // by folder
	golang map[string]string     // import paths by folder
	inits  map[string]bool       // folders that are Python packages
	byPath map[string]*part
}

func newParts(repo *scan.Repository, survey rank.Survey) *parts {
	ps := &parts{repo: repo, survey: survey, units: map[string]*rank.Unit{}, golang: map[string]string{},
		inits: map[string]bool{}, byPath: map[string]*part{}}
	for i := range survey.Units {
		if u := &survey.Units[i]; len(u.Manifests) > 0 {
			ps.units[u.Dir] = u
		}
	}
	for _, p := range survey.Go {
		ps.golang[p.Dir] = p.ImportPath
	}
	for i := range repo.Files {
		if dir, base := path.Split(repo.Files[i].Path); base == "__init__.py" || base == "__init__.pyi" {
			ps.inits[path.Clean(dir)] = true
		}
	}
	return ps
}

// sorted gives the packages by path, the root first.
func (ps *parts) sorted() []*part {
	for i := range ps.repo.Files {
		if f := &ps.repo.Files[i]; ps.belongs(f) {
			ps.put(ps.placeOf(f), f)
		}
	}
	ps.addUnits()
	list := make([]*part, 0, len(ps.byPath))
	for _, p := range ps.byPath {
		if ps.isGoOr(p, scan.Product) {
			ps.finish(p)
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *part) int {
		return cmp.Or(cmp.Compare(above(a.path), above(b.path)), strings.Compare(a.path, b.path))
	})
	return list
}

func above(p string) int {
	if p == "." {
		return 0
	}
	return 1
}

// belongs holds for the sources of the product. What programs wrote is imported like the rest.
func (ps *parts) belongs(f *scan.File) bool {
	return f.Kind == scan.Source && (f.Place == scan.Product || f.Place == scan.Generated)
}

// isGoOr holds for a package of Go, which may be generated as a whole, and for any with a file of the place.
func (ps *parts) isGoOr(p *part, place scan.Place) bool {
	return ps.golang[p.path] != "" || slices.ContainsFunc(p.files, func(f *file) bool { return f.Place == place })
}

// placeOf is the path of the package that the file is of.
func (ps *parts) placeOf(f *scan.File) string {
	dir := path.Dir(f.Path)
	if ps.golang[dir] != "" {
		return dir
	}
	if f.Language == "Python" && !ps.inits[dir] {
		return f.Path
	}
	if u := ps.units[path.Dir(dir)]; u != nil && f.Language != "Python" && isSourceFolder(path.Base(dir), u) {
		return u.Dir
	}
	return dir
}

// isSourceFolder tells the folder that holds the sources of the package around it.
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

func (ps *parts) put(at string, f *scan.File) {
	p := ps.byPath[at]
	if p == nil {
		p = &part{path: at}
		ps.byPath[at] = p
	}
	p.files = append(p.files, &file{File: f, part: p})
}

// addUnits gives the folders of manifests what they say, and makes packages of those that have no source.
func (ps *parts) addUnits() {
	known := map[string]*scan.File{}
	for i := range ps.repo.Files {
		if f := &ps.repo.Files[i]; f.Kind == scan.Manifest && manifest.Known(f.Path) {
			known[f.Path] = f
		}
	}
	for i := range ps.survey.Units {
		u := &ps.survey.Units[i]
		needs := slices.ContainsFunc(u.Manifests, func(m manifest.Manifest) bool { return len(m.Dependencies) > 0 })
		if ps.byPath[u.Dir] == nil && !needs && !isWorkspace(u.About) {
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

// isWorkspace holds for what others of the repository may name.
func isWorkspace(m manifest.Manifest) bool {
	return m.Name != "" && (m.Ecosystem == "npm" || m.Ecosystem == "cargo" || m.Ecosystem == "pypi")
}

func (ps *parts) finish(p *part) {
	slices.SortFunc(p.files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	languages := map[string]int64{}
	for _, f := range p.files {
		p.bytes += f.Size
		if f.Kind == scan.Source {
			languages[f.Language] += f.Size + 1
		}
	}
	for _, f := range p.files {
		if f.Kind == scan.Source && languages[f.Language] > languages[p.language] {
			p.language = f.Language
		}
	}
	p.goPath = ps.golang[p.path]
	if p.goPath != "" {
		p.language = "Go"
	}
	p.name = ps.nameOf(p)
}

func (ps *parts) nameOf(p *part) string {
	switch {
	case p.goPath != "" && (p.goPath != "." || p.unit == nil):
		return cmp.Or(strings.TrimPrefix(p.goPath, "."), ps.repo.Name)
	case p.unit != nil && p.unit.About.Name != "":
		return p.unit.About.Name
	case p.language == "Python" && (ps.inits[p.path] || strings.HasSuffix(p.path, ".py")):
		return strings.ReplaceAll(ps.module(p.path), "/", ".")
	case p.path == ".":
		return cmp.Or(ps.repo.Name, rootID)
	case source.Family(p.language) == "jvm":
		return jvmName(p.path)
	}
	return p.path
}

// module is the path by which Python knows a folder or a file.
func (ps *parts) module(p string) string {
	return python.Module(p, func(folder string) bool { return ps.inits[folder] })
}

// jvmName is what comes after the folder of the language, as in src/main/java.
func jvmName(p string) string {
	for _, root := range []string{"java/", "kotlin/", "scala/", "groovy/"} {
		if _, name, ok := strings.Cut("/"+p, "/main/"+root); ok {
			return strings.ReplaceAll(name, "/", ".")
		}
	}
	return p
}

// stem is a path without its extension.
func stem(p string) string {
	if ext := path.Ext(p); ext != "" && !strings.Contains(ext, "/") {
		return strings.TrimSuffix(strings.TrimSuffix(p, ext), ".d")
	}
	return p
}
