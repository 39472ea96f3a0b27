package manifest

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is taken from one file.
const (
	textBytes  = 1 << 20 // the rest of a longer file is not read
	valueRunes = 600
	listItems  = 300
	depth      = 64 // of nested values
)

// Manifest is what one file says. Values are single lines; unknown ones are empty.
type Manifest struct {
	Path         string
	Ecosystem    string // "go", "npm", "deno", "cargo", "pypi", "maven", "gradle", "nuget", "rubygems", ...
	Name         string // of Gradle "group:" where a file gives the group alone
	Version      string
	Description  string
	Homepage     string
	Repository   string // an https URL without ".git" and credentials where it could be told, else as given
	License      string
	Requires     string   // the language version it needs: "Go 1.26", "Node.js >=18"
	Commit       string   // the commit that the manifest pins
	Directory    string   // of the package in its repository
	Entries      []string // entry points: slash-separated paths from the root of the material; they need not exist
	Commands     []string // names of the programs it installs
	Scripts      []Script // in file order
	Dependencies []string // direct run-time ones, by name, sorted
	Members      []string // workspace patterns, relative to the manifest's folder; "!" excludes
	Private      bool     // not to be published
}

// Script is a command that the manifest gives a name.
type Script struct{ Name, Command string }

// Known reports whether Parse has a reader for files of this name.
func Known(path string) bool {
	_, ok := readerOf(path)
	return ok
}

// Parse reads the manifest at path, which is slash separated and relative to the root of the material. The error says
// what was wrong with the text; the Manifest then holds what was readable nevertheless. It never panics.
func Parse(name string, text []byte) (m Manifest, err error) {
	r, ok := readerOf(name)
	if !ok {
		return Manifest{Path: name}, fmt.Errorf("%s is no manifest of a known kind", name)
	}
	m.Path, m.Ecosystem = name, r.ecosystem
	defer func() {
		// The parsers of other people's formats are not ours; a fault in one costs its file only.
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s cannot be read: %v", name, fault)
		}
		m.bound()
	}()
	s := strings.ToValidUTF8(string(text[:min(len(text), textBytes)]), "\uFFFD")
	s = strings.ReplaceAll(strings.TrimPrefix(s, "\uFEFF"), "\r\n", "\n")
	if err := r.read(&m, s); err != nil {
		return m, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// reader reads the manifests of an ecosystem. A value that the text does not give stays as it is.
type reader struct {
	ecosystem string
	read      func(m *Manifest, text string) error
}

var readersByName = map[string]reader{
	"go.mod":                {"go", readGoMod},
	"go.work":               {"go", readGoWork},
	"package.json":          {"npm", readPackageJSON},
	"pnpm-workspace.yaml":   {"npm", readPnpm},
	"deno.json":             {"deno", readDeno},
	"deno.jsonc":            {"deno", readDeno},
	"jsr.json":              {"deno", readDeno},
	"jsr.jsonc":             {"deno", readDeno},
	"Cargo.toml":            {"cargo", readCargo},
	"pyproject.toml":        {"pypi", readPyproject},
	"setup.cfg":             {"pypi", readSetupCfg},
	"setup.py":              {"pypi", readSetupPy},
	"pom.xml":               {"maven", readPOM},
	"build.gradle":          {"gradle", readGradle},
	"build.gradle.kts":      {"gradle", readGradle},
	"settings.gradle":       {"gradle", readGradleSettings},
	"settings.gradle.kts":   {"gradle", readGradleSettings},
	"Directory.Build.props": {"nuget", readProps},
	"composer.json":         {"composer", readComposer},
	"mix.exs":               {"hex", readMix},
	"rebar.config":          {"hex", readRebar},
	"Package.swift":         {"swift", readSwift},
	"package.yaml":          {"hackage", readHpack},
	"CMakeLists.txt":        {"cmake", readCMake},
	"meson.build":           {"meson", readMeson},
	"pubspec.yaml":          {"pub", readPubspec},
	"dune-project":          {"opam", readDune},
	"opam":                  {"opam", readOpam},
	"DESCRIPTION":           {"cran", readDescription},
	"Project.toml":          {"julia", readJulia},
	"build.zig.zon":         {"zig", readZon},
	"info.rkt":              {"racket", readRacket},
	"Chart.yaml":            {"helm", readChart},
	"galaxy.yml":            {"ansible", readGalaxy},
}

var readersByExtension = map[string]reader{
	".csproj":  {"nuget", readProject},
	".fsproj":  {"nuget", readProject},
	".vbproj":  {"nuget", readProject},
	".sln":     {"nuget", readSolution},
	".slnx":    {"nuget", readSolutionXML},
	".gemspec": {"rubygems", readGemspec},
	".podspec": {"cocoapods", readPodspec},
	".cabal":   {"hackage", readCabal},
	".opam":    {"opam", readOpam},
}

func readerOf(name string) (r reader, ok bool) {
	base := path.Base(name)
	if r, ok = readersByName[base]; ok {
		return r, true
	}
	if strings.HasSuffix(base, ".app.src") {
		return reader{"hex", readAppSrc}, true
	}
	r, ok = readersByExtension[strings.ToLower(path.Ext(base))]
	return r, ok
}

// entry adds an entry point that is given relative to the manifest's folder.
func (m *Manifest) entry(names ...string) {
	for _, name := range names {
		name = strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
		if name == "" || strings.ContainsAny(name, "*${}\n") || strings.Contains(name, "://") || len(name) > 400 {
			continue
		}
		p := path.Join(path.Dir(m.Path), name)
		if p == "." || p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
			continue
		}
		if !slices.Contains(m.Entries, p) && len(m.Entries) < listItems {
			m.Entries = append(m.Entries, p)
		}
	}
}

// requires names the language, if the manifest says which versions of it will do.
func (m *Manifest) requires(language, version string) {
	if version != "" {
		m.Requires = language + " " + version
	}
}

func (m *Manifest) command(names ...string) {
	for _, name := range names {
		if name != "" && !slices.Contains(m.Commands, name) && len(m.Commands) < listItems {
			m.Commands = append(m.Commands, name)
		}
	}
}

func (m *Manifest) script(name, command string) {
	if name != "" && command != "" && len(m.Scripts) < listItems {
		m.Scripts = append(m.Scripts, Script{line(name), line(command)})
	}
}

// bound makes single lines of bounded length of all values.
func (m *Manifest) bound() {
	for _, s := range []*string{&m.Ecosystem, &m.Name, &m.Version, &m.Description, &m.Homepage, &m.License,
		&m.Requires, &m.Commit, &m.Directory} {
		*s = line(*s)
	}
	repository, dir := repositoryURL(line(m.Repository))
	m.Repository = repository
	m.Directory = strings.TrimPrefix(path.Clean("/"+cmp.Or(m.Directory, dir)), "/")
	m.Commands = lines(m.Commands)
	m.Members = lines(m.Members)
	m.Dependencies = lines(m.Dependencies)
	slices.Sort(m.Dependencies)
	m.Dependencies = slices.Compact(m.Dependencies)
}

func lines(list []string) []string {
	var kept []string
	for _, s := range list[:min(len(list), listItems)] {
		if s = line(s); s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}

// line puts text on one line, bounded.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > valueRunes {
		s = strings.TrimSpace(string([]rune(s)[:valueRunes]))
	}
	return s
}
