package graph

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
)

// target is what an import leads to: a package, or something outside. Its zero value is nothing that is known.
type target struct {
	part *part
	name string // of what is outside
	eco  string
}

// resolver finds by the files' names what an import means. The keys of its maps begin with the family of languages.
type resolver struct {
	parts    *parts
	byGo     map[string]*part
	byFolder map[string]*part // folders of manifests
	byUnit   map[string]*part // ecosystem and plain name
	byStem   map[string]*file // paths without extension, and the names of Python's modules
	byTail   map[string]*part // the ends of paths, two parts or more; the shortest path has it
	byBase   map[string]*file // of headers; nil for a name that several have
	tops     map[string]bool  // first parts of the names by which Python knows modules
	declared map[string]string
	declares map[string]bool // ecosystems in which any manifest names what it needs
	modules  []string        // those of Go that are here

	coordinates []coordinate      // what Maven's and Gradle's manifests need
	byImport    map[string]target // what imports of those were found to be
}

func newResolver(ps *parts, list []*part) *resolver {
	r := &resolver{parts: ps, byGo: map[string]*part{}, byFolder: map[string]*part{}, byUnit: map[string]*part{},
		byStem: map[string]*file{}, byTail: map[string]*part{}, byBase: map[string]*file{}, tops: map[string]bool{},
		declared: map[string]string{}, declares: map[string]bool{}, byImport: map[string]target{}}
	for i := range ps.survey.Units {
		r.declare(&ps.survey.Units[i])
	}
	for _, p := range list {
		if p.goPath != "" {
			r.byGo[p.goPath] = p
		}
		if p.unit != nil {
			r.addUnit(p)
		}
		for _, f := range p.files {
			if f.Kind == scan.Source && f.Language != "Go" {
				r.addFile(f)
			}
		}
	}
	return r
}

func (r *resolver) declare(u *rank.Unit) {
	for _, m := range u.Manifests {
		eco := ecosystem(m.Ecosystem)
		if eco == "go" && m.Name != "" {
			r.modules = append(r.modules, m.Name)
		}
		for _, name := range m.Dependencies {
			r.declares[eco] = true
			at := key(eco, foldName(name))
			if eco == "maven" && r.declared[at] == "" {
				r.coordinate(name)
			}
			r.declared[at] = name
		}
	}
}

func (r *resolver) addUnit(p *part) {
	r.byFolder[p.path] = p
	for _, m := range p.unit.Manifests {
		if at := key(ecosystem(m.Ecosystem), foldName(m.Name)); m.Name != "" && r.byUnit[at] == nil {
			r.byUnit[at] = p
		}
	}
}

func (r *resolver) addFile(f *file) {
	fam := source.Family(f.Language)
	p := stem(f.Path)
	if fam == "c" {
		p = f.Path
		base := key(fam, path.Base(p))
		if _, several := r.byBase[base]; several {
			r.byBase[base] = nil
		} else {
			r.byBase[base] = f
		}
	}
	r.stem(fam, p, f)
	switch path.Base(p) {
	case "index", "__init__", "mod", "lib":
		r.stem(fam, path.Dir(p), f)
	}
	if fam == "python" {
		if r.parts.inits[path.Dir(f.Path)] {
			module := r.parts.module(f.Path)
			r.stem(fam, module, f)
			top, _, _ := strings.Cut(module, "/")
			r.tops[top] = true
		}
		return
	}
	r.tails(fam, p, f.part)
	r.tails(fam, path.Dir(p), f.part)
}

// stem gives the name to the first that has it.
func (r *resolver) stem(fam, p string, f *file) {
	if at := key(fam, p); r.byStem[at] == nil {
		r.byStem[at] = f
	}
}

// tails of a path are those that other languages than scripts import by.
func (r *resolver) tails(fam, p string, to *part) {
	if fam == "script" || fam == "rust" {
		return
	}
	if fam == ".net" {
		p = strings.ReplaceAll(p, ".", "/")
	}
	for strings.Contains(p, "/") {
		if old := r.byTail[key(fam, p)]; old == nil || len(to.path) < len(old.path) {
			r.byTail[key(fam, p)] = to
		}
		_, p, _ = strings.Cut(p, "/")
	}
}

func key(kind, name string) string { return kind + "\n" + name }

// foldName makes the ways alike in which a package and what it is imported by are spelled.
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

func ecosystem(name string) string {
	switch name {
	case "deno", "jsr":
		return "npm"
	case "gradle":
		return "maven"
	}
	return name
}

// targets gives what a file imports, each once.
func (r *resolver) targets(f *file) map[target]bool {
	found := map[target]bool{}
	take := func(t target) bool {
		if t == (target{}) || t.part == f.part {
			return t.part != nil
		}
		found[t] = true
		return true
	}
	if f.Language == "Go" {
		for _, spec := range f.Imports {
			take(r.golang(spec))
		}
		return found
	}
	fam, last := source.Family(f.Language), ""
	for _, spec := range f.specs {
		spec = strings.TrimSpace(spec)
		if fam != "script" && fam != "python" && last != "" && spec == path.Dir(last) {
			continue // what was found said more
		}
		last = ""
		if spec != "" && take(r.find(f, fam, spec)) {
			last = spec
		}
	}
	return found
}

func (r *resolver) find(f *file, fam, spec string) target {
	if strings.HasPrefix(spec, ".") && fam != ".net" {
		return r.relative(f, fam, spec)
	}
	switch fam {
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

func (r *resolver) relative(f *file, fam, spec string) target {
	p := path.Join(path.Dir(f.Path), spec)
	if to := r.at(fam, p); to != nil {
		return target{part: to}
	}
	return target{part: r.byFolder[p]}
}

// at finds the file of the path, with its extension or without.
func (r *resolver) at(fam, p string) *part {
	if f := r.byStem[key(fam, p)]; f != nil {
		return f.part
	}
	if f := r.byStem[key(fam, stem(p))]; f != nil && fam != "c" {
		return f.part
	}
	return nil
}

// unitOf is the folder of the nearest manifest above the file.
func (r *resolver) unitOf(f *file) string {
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		if r.parts.units[dir] != nil {
			return dir
		}
	}
	return "."
}

// outside is what a manifest names, under its name there, or nothing.
func (r *resolver) outside(eco, name string) target {
	if p := r.byUnit[key(eco, foldName(name))]; p != nil {
		return target{part: p}
	}
	if known := r.declared[key(eco, foldName(name))]; known != "" {
		return target{name: known, eco: eco}
	}
	return target{}
}
