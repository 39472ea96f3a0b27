package manifest

import (
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
	Name         string
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
func Known(path string) bool { return readerOf(path) != nil }

// Parse reads the manifest at path, which is slash separated and relative to the root of the material. The error says
// what was wrong with the text; the Manifest then holds what was readable nevertheless. It never panics.
func Parse(name string, text []byte) (m Manifest, err error) {
	read := readerOf(name)
	if read == nil {
		return Manifest{Path: name}, fmt.Errorf("%s is no manifest of a known kind", name)
	}
	m.Path = name
	defer func() {
		// The parsers of other people's formats are not ours; a fault in one costs its file only.
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s cannot be read: %v", name, fault)
		}
		m.bound()
	}()
	s := strings.ToValidUTF8(string(text[:min(len(text), textBytes)]), "\uFFFD")
	s = strings.ReplaceAll(strings.TrimPrefix(s, "\uFEFF"), "\r\n", "\n")
	if err := read(&m, s); err != nil {
		return m, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

type reader func(m *Manifest, text string) error

func readerOf(name string) reader {
	base := path.Base(name)
	if read := readerOfName(base); read != nil {
		return read
	}
	switch strings.ToLower(path.Ext(base)) {
	case ".csproj", ".fsproj", ".vbproj":
		return readProject
	case ".sln":
		return readSolution
	case ".slnx":
		return readSolutionXML
	case ".gemspec":
		return readGemspec
	case ".podspec":
		return readPodspec
	case ".cabal":
		return readCabal
	case ".opam":
		return readOpam
	}
	if strings.HasSuffix(base, ".app.src") {
		return readAppSrc
	}
	return nil
}

func readerOfName(base string) reader {
	switch base {
	case "go.mod":
		return readGoMod
	case "go.work":
		return readGoWork
	case "package.json":
		return readPackageJSON
	case "pnpm-workspace.yaml":
		return readPnpm
	case "deno.json", "deno.jsonc", "jsr.json", "jsr.jsonc":
		return readDeno
	case "Cargo.toml":
		return readCargo
	case "pyproject.toml":
		return readPyproject
	case "setup.cfg":
		return readSetupCfg
	case "setup.py":
		return readSetupPy
	case "pom.xml":
		return readPOM
	case "build.gradle", "build.gradle.kts":
		return readGradle
	case "settings.gradle", "settings.gradle.kts":
		return readGradleSettings
	}
	return readerOfRarerName(base)
}

func readerOfRarerName(base string) reader {
	switch base {
	case "Directory.Build.props":
		return readProps
	case "composer.json":
		return readComposer
	case "mix.exs":
		return readMix
	case "rebar.config":
		return readRebar
	case "Package.swift":
		return readSwift
	case "package.yaml":
		return readHpack
	case "CMakeLists.txt":
		return readCMake
	case "meson.build":
		return readMeson
	case "pubspec.yaml":
		return readPubspec
	case "dune-project":
		return readDune
	case "opam":
		return readOpam
	case "DESCRIPTION":
		return readDescription
	case "Project.toml":
		return readJulia
	case "build.zig.zon":
		return readZon
	case "info.rkt":
		return readRacket
	}
	return nil
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
	if m.Directory == "" {
		m.Directory = dir
	}
	m.Directory = strings.TrimPrefix(path.Clean("/"+m.Directory), "/")
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
