package rank

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/prose"
)

// manifest is what the package manager is told; the first found in a fixed
// order counts, and only at the root.
type manifest struct {
	path        string
	name        string
	version     string
	requires    string
	description string
	licence     string
}

func (m manifest) label() string {
	if m.path == "go.mod" {
		return "Module"
	}
	return "Package"
}

func (b *builder) readManifest() manifest {
	for _, p := range []string{"go.mod", "Cargo.toml", "pyproject.toml", "package.json"} {
		if !b.paths[p] {
			continue
		}
		if m := parseManifest(p, b.head(p, readmeBytes)); m.name != "" {
			m.path = p
			return m
		}
	}
	return manifest{}
}

func parseManifest(p, text string) manifest {
	switch path.Base(p) {
	case "go.mod":
		return parseGoMod(text)
	case "package.json":
		return parsePackageJSON(text)
	case "Cargo.toml":
		return parseTOML(text, "package", "rust-version", "Rust")
	default:
		if m := parseTOML(text, "project", "requires-python", "Python"); m.name != "" {
			return m
		}
		return parseTOML(text, "tool.poetry", "python", "Python")
	}
}

func parseGoMod(text string) manifest {
	var m manifest
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		switch fields[0] {
		case "module":
			m.name = strings.Trim(fields[1], `"`+"`")
		case "go":
			m.requires = "Go " + fields[1]
		}
	}
	return m
}

func parsePackageJSON(text string) manifest {
	var p struct {
		Name, Version, Description string
		License                    any
		Engines                    map[string]string
	}
	// A field of the wrong type leaves the others as they were read.
	_ = json.Unmarshal([]byte(text), &p)
	m := manifest{name: p.Name, version: p.Version, description: prose.Tidy(p.Description)}
	m.licence, _ = p.License.(string)
	if node := p.Engines["node"]; node != "" {
		m.requires = "Node.js " + node
	}
	return m
}

// parseTOML reads the plain strings of one table, which is all that these files
// hold there; the rest of TOML is not needed.
func parseTOML(text, table, requires, runtime string) manifest {
	var m manifest
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(line, "#")
			inside = strings.TrimSpace(name) == "["+table+"]"
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !inside || !ok {
			continue
		}
		m.set(strings.TrimSpace(key), tomlString(value), requires, runtime)
	}
	return m
}

func (m *manifest) set(key, value, requires, runtime string) {
	if value == "" {
		return
	}
	switch key {
	case "name":
		m.name = value
	case "version":
		m.version = value
	case "description":
		m.description = prose.Tidy(value)
	case "license":
		m.licence = value
	case requires:
		m.requires = runtime + " " + value
	}
}

func tomlString(value string) string {
	value = strings.TrimSpace(value)
	if len(value) < 2 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	end := strings.IndexByte(value[1:], value[0])
	if end < 0 {
		return ""
	}
	return value[1 : 1+end]
}
