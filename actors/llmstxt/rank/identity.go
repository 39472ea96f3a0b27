package rank

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/prose"
)

// titleRunes is the longest heading that is still a name.
const titleRunes = 60

// title is the README's own, else the package's name, else the repository's,
// else the folder's.
func (b *builder) title() string {
	t := strings.TrimRight(b.readme.title, " :!")
	for _, lead := range []string{"Welcome to ", "welcome to ", "Introduction to ", "About "} {
		t = strings.TrimPrefix(t, lead)
	}
	t = strings.TrimSuffix(strings.TrimSuffix(t, " README"), " Readme")
	name := moduleName(b.root().about.Name)
	if t != "" && utf8.RuneCountInString(t) <= titleRunes && !isNoName(t) {
		return t
	}
	if base := path.Base(b.repo.Origin.Prefix); b.repo.Origin.Prefix != "" && name == "" {
		name = base
	}
	return firstOf(name, b.repo.Origin.Repo, b.repo.Name)
}

// isNoName tells headings that every README may have.
func isNoName(title string) bool {
	switch strings.ToLower(strings.TrimRight(title, " :!?.")) {
	case "", "readme", "read me", "introduction", "overview", "table of contents", "contents", "installation", "install",
		"about", "usage", "getting started", "features", "description", "what is this", "synopsis", "quick start",
		"quickstart", "name", "title", "documentation", "license", "summary":
		return true
	}
	return false
}

// moduleName is the last element of a module path that is not a version.
func moduleName(module string) string {
	base := path.Base(module)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(module))
	}
	if _, artifact, ok := strings.Cut(base, ":"); ok {
		base = artifact
	}
	if base == "." || base == "/" {
		return ""
	}
	return base
}

// facts are lines that hold for this commit, that can be checked, and by which
// an agent installs, builds and runs.
func (b *builder) facts() []Fact {
	m := b.root().about
	label := "Package"
	if m.Ecosystem == "go" {
		label = "Module"
	}
	version := firstOf(m.Version, strings.TrimPrefix(b.repo.Origin.Version, "v"))
	facts := []Fact{
		{label, packageFact(m)},
		{"Version", version},
		{"Requires", m.Requires},
		{"Install", b.installCommand(m)},
		{"Commands", quoted(m.Commands, 8)},
		{"Scripts", scripts(m)},
		{"Languages", b.mix.String()},
		{"Licence", firstOf(b.licence(), m.License)},
		{"Repository", b.links.home},
		{"Folder", b.links.prefix},
		{"Commit", b.links.commit()},
	}
	var known []Fact
	for _, f := range facts {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}

func packageFact(m manifest.Manifest) string {
	if m.Name == "" || m.Ecosystem == "go" {
		return m.Name
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Ecosystem)
}

func quoted(list []string, most int) string {
	var parts []string
	for _, s := range list[:min(len(list), most)] {
		parts = append(parts, "`"+s+"`")
	}
	return strings.Join(parts, ", ")
}

// scripts names those by which one builds, tests and runs.
func scripts(m manifest.Manifest) string {
	var parts []string
	seen := make(map[string]bool)
	for _, want := range []string{"install", "build", "compile", "test", "lint", "typecheck", "start", "dev", "serve",
		"docs"} {
		for _, s := range m.Scripts {
			if s.Name == want && !seen[s.Name] && utf8.RuneCountInString(s.Command) <= 120 && !strings.Contains(s.Command, "`") {
				seen[s.Name] = true
				parts = append(parts, s.Name+": `"+s.Command+"`")
			}
		}
	}
	return strings.Join(parts[:min(len(parts), 6)], ", ")
}

// installCommand is the first line of the README's code that installs this
// very package.
func (b *builder) installCommand(m manifest.Manifest) string {
	name := m.Name
	if _, artifact, ok := strings.Cut(name, ":"); ok {
		name = artifact
	}
	if len(name) < 2 {
		return ""
	}
	for _, code := range codeOf(b.named.text) {
		code = prose.Tidy(strings.TrimLeft(code, "$> "))
		if utf8.RuneCountInString(code) > 100 || !strings.Contains(code, name) {
			continue
		}
		for _, start := range []string{"npm i", "npm add", "pnpm add", "yarn add", "bun add", "pip install",
			"python -m pip install", "uv add", "go get ", "go install ", "cargo add ", "cargo install ", "gem install ",
			"bundle add ", "composer require ", "dotnet add ", "brew install ", "npx ", "deno add ", "jsr add ",
			"opam install ", "cabal install ", "dart pub add ", "flutter pub add ", "poetry add ", "pipx install ",
			"conda install ", "uv tool install "} {
			if strings.HasPrefix(code, start) {
				return "`" + code + "`"
			}
		}
	}
	return ""
}
