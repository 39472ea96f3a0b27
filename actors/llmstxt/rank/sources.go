package rank

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// sources lists the files of languages other than Go by which one enters the
// code. Languages with less than a tenth of it are left out.
func (b *builder) sources() []Link {
	bytes, sum := b.mix()
	var list []scan.File
	for _, f := range b.repo.Files {
		if f.Kind == scan.Source && f.Place == scan.Product && f.Language != "Go" && f.Size > 0 && 10*bytes[f.Language] >= sum {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(x, y scan.File) int {
		return cmp.Or(
			cmp.Compare(entryRank(x.Path), entryRank(y.Path)),
			cmp.Compare(depth(x.Path), depth(y.Path)),
			cmp.Compare(y.Size, x.Size),
			strings.Compare(x.Path, y.Path))
	})
	var links []Link
	for _, f := range list {
		links = append(links, b.link(f.Path))
	}
	return links
}

// entryRank is 0 for the names by which the languages call an entrance.
func entryRank(p string) int {
	switch stemOf(p) {
	case "index", "main", "lib", "mod", "__init__", "__main__", "app", "cli", "server":
		return 0
	case "setup", "conf", "build", "gulpfile", "manage":
		return 2
	}
	return 1
}

// examples lists one entrance for each example folder: its README, else its
// main file, else its first.
func (b *builder) examples() []Link {
	chosen := make(map[string]string)
	for _, f := range b.repo.Files {
		if f.Place != scan.Example || f.Size == 0 || f.Kind != scan.Document && f.Kind != scan.Source {
			continue
		}
		dir := exampleDir(f.Path)
		if old, ok := chosen[dir]; !ok || compareBy(exampleRank)(f.Path, old) < 0 {
			chosen[dir] = f.Path
		}
	}
	var files []string
	for _, f := range chosen {
		files = append(files, f)
	}
	slices.SortFunc(files, compareBy(func(p string) int { return depth(exampleDir(p)) }))
	var links []Link
	for _, f := range files {
		l := b.link(f)
		l.Title = exampleDir(f)
		links = append(links, l)
	}
	return links
}

// exampleDir is the folder directly below the examples, or the file itself
// where it stands there alone.
func exampleDir(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		switch strings.TrimPrefix(strings.ToLower(part), "_") {
		case "example", "examples", "sample", "samples", "demo", "demos", "cookbook":
			return strings.Join(parts[:min(i+2, len(parts))], "/")
		}
	}
	return path.Dir(p)
}

func exampleRank(p string) int {
	switch {
	case isReadme(p):
		return 0
	case stemOf(p) == "main" || stemOf(p) == "index" || stemOf(p) == "app":
		return 1
	}
	return 2
}

// configuration lists what builds and configures the product, at the root and
// one folder below.
func (b *builder) configuration() []Link {
	var files []string
	for _, f := range b.repo.Files {
		if f.Place == scan.Product && (f.Kind == scan.Manifest || f.Kind == scan.Config) && configRank(f.Path) < 3 {
			files = append(files, f.Path)
		}
	}
	slices.SortFunc(files, compareBy(configRank))
	var links []Link
	for _, f := range files {
		links = append(links, b.link(f))
	}
	return links
}

func configRank(p string) int {
	name := strings.ToLower(path.Base(p))
	switch {
	case depth(p) > 1 || strings.HasPrefix(name, ".") && !strings.HasPrefix(name, ".env"):
		return 3
	case isManifestName(name):
		return 0
	case name == "makefile" || name == "justfile" || strings.HasPrefix(name, "dockerfile") || strings.HasPrefix(name, "docker-compose"):
		return 1
	case strings.Contains(name, "example") || strings.Contains(name, "sample") || strings.Contains(name, "default") || strings.HasPrefix(name, "config"):
		return 1
	case depth(p) == 0:
		return 2
	}
	return 3
}

func isManifestName(name string) bool {
	switch name {
	case "go.mod", "go.work", "package.json", "cargo.toml", "pyproject.toml", "pom.xml", "build.gradle", "build.gradle.kts",
		"cmakelists.txt", "composer.json", "mix.exs", "gemfile":
		return true
	}
	return false
}
