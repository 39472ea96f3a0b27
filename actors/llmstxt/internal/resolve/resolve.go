package resolve

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/language"
)

// Target is what an import refers to: a file or folder of the repository, or an external package. The zero Target
// means that nothing is known.
type Target struct {
	Path            string // of the file or folder
	Name, Ecosystem string // of an external package
}

// Resolver knows the names in a repository. It is for one goroutine at a time.
type Resolver struct {
	units    map[string]bool   // folders with manifests
	golang   map[string]string // folders by import path
	packages map[string]bool   // folders that are Python packages
	tops     map[string]bool   // first parts of the names by which Python knows modules

	byPath   map[key]string // by family and path without extension, or by name of a Python module
	byBase   map[key][]tail // by family and last part of the tail
	byName   map[key]string // folders by ecosystem and plain name
	declared map[key]string // dependencies in manifests, by ecosystem and plain name
	declares map[string]bool
	modules  []string // Go modules of the repository

	coordinates []coordinate      // dependencies of Maven's and Gradle's manifests
	byImport    map[string]Target // what imports of those were resolved to
}

// key is a name together with its family of languages or its ecosystem.
type key struct{ of, name string }

// tail is a file or folder under the path by whose end most languages import it.
type tail struct{ name, path string }

// New makes a Resolver from the repository's files, the manifests by folder, and the folders of Go packages by import
// path.
func New(files []scan.File, manifests map[string][]manifest.Manifest, golang map[string]string) *Resolver {
	r := &Resolver{units: map[string]bool{}, golang: golang, packages: map[string]bool{}, tops: map[string]bool{},
		byPath: map[key]string{}, byBase: map[key][]tail{}, byName: map[key]string{}, declared: map[key]string{},
		declares: map[string]bool{}, byImport: map[string]Target{}}
	for folder, list := range manifests {
		r.units[folder] = len(list) > 0
	}
	for _, folder := range slices.Sorted(maps.Keys(manifests)) {
		for _, m := range manifests[folder] {
			r.addManifest(folder, m)
		}
	}
	for i := range files {
		if dir, base := path.Split(files[i].Path); base == "__init__.py" || base == "__init__.pyi" {
			r.packages[path.Clean(dir)] = true
		}
	}
	for i := range files {
		if f := &files[i]; IsImported(f) && f.Language != "Go" {
			r.addFile(f)
		}
	}
	return r
}

// IsImported reports whether the file is a source of the product. Generated sources are imported like others.
func IsImported(f *scan.File) bool {
	return f.Kind == scan.Source && (f.Place == scan.Product || f.Place == scan.Generated)
}

// addManifest adds a package and its dependencies. Of several packages with one name, the first has it.
func (r *Resolver) addManifest(folder string, m manifest.Manifest) {
	eco := ecosystem(m.Ecosystem)
	if plainName := plain(eco, m.Name); m.Name != "" && r.byName[plainName] == "" {
		r.byName[plainName] = folder
	}
	if eco == "go" && m.Name != "" {
		r.modules = append(r.modules, m.Name)
	}
	for _, name := range m.Dependencies {
		r.declares[eco] = true
		plainName := plain(eco, name)
		if eco == "maven" && r.declared[plainName] == "" {
			r.coordinate(name)
		}
		r.declared[plainName] = name
	}
}

// addFile adds the names by which other files may import this one.
func (r *Resolver) addFile(f *scan.File) {
	fam, p := source.Family(f.Language), stem(f.Path)
	if fam == "c" { // includes name the extension
		p = f.Path
	}
	r.name(fam, p, f.Path)
	switch path.Base(p) {
	case "index", "__init__", "mod", "lib":
		r.name(fam, path.Dir(p), f.Path)
	}
	switch {
	case fam == "python" && r.IsPackage(path.Dir(f.Path)):
		module := r.Module(f.Path)
		r.name(fam, module, f.Path)
		top, _, _ := strings.Cut(module, "/")
		r.tops[top] = true
	case fam == "Swift": // Swift's modules are folders
		r.name(fam, path.Dir(p), path.Dir(p))
	case fam != "python" && fam != "script" && fam != "rust":
		r.addTail(fam, p, f.Path)
		r.addTail(fam, path.Dir(p), path.Dir(f.Path))
	}
}

// name assigns a name to the first path that has it.
func (r *Resolver) name(fam, name, path string) {
	if k := (key{fam, name}); r.byPath[k] == "" {
		r.byPath[k] = path
	}
}

// mostNamesakes bounds the files that each import is compared with.
const mostNamesakes = 500

// addTail adds a file or folder, which tail finds. Names in .NET have dots instead of slashes.
func (r *Resolver) addTail(fam, name, to string) {
	if fam == ".net" {
		name = strings.ReplaceAll(name, ".", "/")
	}
	k, t := key{fam, path.Base(name)}, tail{"/" + name, to}
	if list := r.byBase[k]; len(list) < mostNamesakes && !slices.Contains(list, t) {
		r.byBase[k] = append(list, t)
	}
}

// Module returns the name by which Python imports a folder or a file.
func (r *Resolver) Module(p string) string { return language.PythonModule(p, r.IsPackage) }

// IsPackage reports whether Python treats the folder as a package.
func (r *Resolver) IsPackage(folder string) bool { return r.packages[folder] }

// stem returns a path without its extension.
func stem(p string) string { return strings.TrimSuffix(strings.TrimSuffix(p, path.Ext(p)), ".d") }

// plain unifies the spellings of a package and of its imports.
func plain(ecosystem, name string) key {
	return key{ecosystem, strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))}
}

// kindred maps ecosystems to the one whose packages they have.
var kindred = map[string]string{"deno": "npm", "jsr": "npm", "gradle": "maven"}

func ecosystem(name string) string { return cmp.Or(kindred[name], name) }

// Targets yields what the imports of a file refer to.
func (r *Resolver) Targets(f *scan.File, specs []string) iter.Seq[Target] {
	fam, last := source.Family(f.Language), ""
	return func(yield func(Target) bool) {
		for _, spec := range specs {
			spec = strings.TrimSpace(spec)
			if spec == "" || spec == path.Dir(last) && fam != "script" && fam != "python" && fam != "Go" {
				continue // what was found said more; "." is the rest of a name with one part
			}
			t := r.find(f, fam, spec)
			if last = spec; t == (Target{}) {
				last = ""
			} else if !yield(t) {
				return
			}
		}
	}
}

// Needed yields the dependencies in manifests.
func (r *Resolver) Needed(manifests []manifest.Manifest) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for _, m := range manifests {
			for _, name := range m.Dependencies {
				if !yield(r.known(ecosystem(m.Ecosystem), name)) {
					return
				}
			}
		}
	}
}

// find returns what one import of the file refers to. fam is the family of its language.
func (r *Resolver) find(f *scan.File, fam, spec string) Target {
	if strings.HasPrefix(spec, ".") && fam != ".net" {
		p := path.Join(path.Dir(f.Path), spec)
		if to := r.at(fam, p); to != (Target{}) || !r.units[p] {
			return to
		}
		return Target{Path: p}
	}
	switch fam {
	case "Go":
		return r.module(spec)
	case "script":
		return r.script(f, spec)
	case "python":
		return r.python(f, spec)
	case "rust":
		return r.rust(f, spec)
	case "c":
		return r.header(f, spec)
	}
	return r.named(f, fam, spec)
}

// at finds the file with the path, with or without its extension.
func (r *Resolver) at(fam, p string) Target {
	to := r.byPath[key{fam, p}]
	if to == "" && fam != "c" {
		to = r.byPath[key{fam, stem(p)}]
	}
	return Target{Path: to}
}

// below finds an import in the folders where the language looks for it.
func (r *Resolver) below(f *scan.File, spec string) Target {
	folders := source.Of(f.Language).Folders
	if folders == nil {
		return Target{}
	}
	unit := path.Dir(f.Path)
	for unit != "." && !r.units[unit] {
		unit = path.Dir(unit)
	}
	for _, folder := range folders(f.Path, unit) {
		p := path.Join(folder, spec)
		if to := r.at(source.Family(f.Language), p); to != (Target{}) {
			return to
		}
	}
	return Target{}
}

// tail finds the path that ends with the spec, which has at least two parts. The shortest path wins, and a file
// before a folder.
func (r *Resolver) tail(fam, spec string) Target {
	var best tail
	for _, t := range r.byBase[key{fam, path.Base(spec)}] {
		if strings.HasSuffix(t.name, "/"+spec) && (best.name == "" || len(t.name) < len(best.name)) {
			best = t
		}
	}
	return Target{Path: best.path}
}

// known returns a package of the repository, or a dependency of a manifest, with its name there.
func (r *Resolver) known(eco, name string) Target {
	plainName := plain(eco, name)
	if folder := r.byName[plainName]; folder != "" {
		return Target{Path: folder}
	}
	if needed := r.declared[plainName]; needed != "" {
		return Target{Name: needed, Ecosystem: eco}
	}
	return Target{}
}
