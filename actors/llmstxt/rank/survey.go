package rank

import "github.com/seed889630bf/lastword/actors/repository/manifest"

// Survey is what Build knows of the packages of a repository before it chooses among them.
type Survey struct {
	Units []Unit      // the root first, which is one even without a manifest
	Go    []GoPackage // sorted by folder
}

// Unit is a folder with manifests of its own.
type Unit struct {
	Dir       string // "." for the root
	About     manifest.Manifest
	Manifests []manifest.Manifest // all of the folder; About is the one that leads, its gaps filled by others
}

// GoPackage is a folder with Go files.
type GoPackage struct {
	Dir, Name, ImportPath string
}

func (b *builder) surveyed() Survey {
	var s Survey
	for _, u := range b.units {
		s.Units = append(s.Units, Unit{Dir: u.dir, About: u.about, Manifests: u.manifests})
	}
	for _, p := range b.golang.packages {
		s.Go = append(s.Go, GoPackage{Dir: p.dir, Name: p.name, ImportPath: p.importer})
	}
	return s
}
