package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
)

var buildFiles, runFiles = words.Of("build files"), words.Of("files that run")

// configuration lists what builds and configures the product, and what deploys it, near the root.
func (j *judge) configuration(c choice) {
	for f := range j.files() {
		if depth(f.Path) > 3 || f.Kind == scan.Document || f.Kind == scan.Source && !manifest.Known(f.Path) {
			continue
		}
		section, points, reason := j.configOf(f)
		if section == "" {
			if f.Kind == scan.Config && depth(f.Path) == 0 {
				j.pass(f.Path, 5, "configures tools, not the product")
			}
			continue
		}
		x := &candidate{Link: Link{Path: f.Path}}
		x.add(200+points-10*depth(f.Path), reason)
		j.credit(x)
		c[section] = append(c[section], x)
	}
	for _, section := range []string{secConfiguration, secOperations} {
		slices.SortStableFunc(c[section], byScore)
	}
}

func (j *judge) configOf(f *scan.File) (section string, points int, reason string) {
	name := strings.ToLower(path.Base(f.Path))
	stem, isYAML := strings.TrimSuffix(name, path.Ext(name)), prose.EndsWithAny(name, ".yaml", ".yml")
	switch {
	case manifest.Known(f.Path) && depth(f.Path) == 0:
		m, _ := manifest.Parse(f.Path, nil)
		if j.mix.sum > 0 && len(source.In(m.Ecosystem)) > 0 && j.mix.share(m.Ecosystem) < 10 {
			return "", 0, ""
		}
		return secConfiguration, 40, "manifest at the root"
	case depth(f.Path) == 0 && buildFiles.Has(name):
		return secConfiguration, 30, "build targets at the root"
	case depth(f.Path) > 1 && !j.named.Path(f.Path) && !isYAML:
	case runFiles.Start(name):
		return secOperations, 30, "says how to run it"
	case strings.Contains(stem, "example") || strings.Contains(stem, "sample") || strings.HasPrefix(stem, "default") ||
		strings.HasSuffix(name, ".conf") && depth(f.Path) == 0:
		if f.Kind == scan.Config {
			return secConfiguration, 40, "example configuration"
		}
	case isYAML && name[0] != '.' && f.Size < 64<<10:
		if text := j.head(f.Path, 512); strings.Contains(text, "apiVersion:") && strings.Contains(text, "kind:") {
			return secOperations, 10, "a Kubernetes object"
		}
	}
	return "", 0, ""
}

// contentBytes of a file of settings are read for what it holds.
const contentBytes = 16 << 10

// contents says what a file of settings holds: the scripts and dependencies of a manifest, the targets of a build
// file, the services of a compose file, the objects of Kubernetes, the tables of a schema.
func (v *survey) contents(p string) string {
	base := strings.ToLower(path.Base(p))
	text := func() string { return v.head(p, contentBytes) }
	switch {
	case manifest.Known(p):
		m, _ := manifest.Parse(p, []byte(v.head(p, manifestBytes)))
		var scripts []string
		for _, s := range m.Scripts {
			scripts = append(scripts, s.Name)
		}
		return cmp.Or(named("Scripts", scripts), named("Depends on", m.Dependencies))
	case buildFiles.Has(base):
		return named("Targets", found(buildTarget, text()))
	case prose.StartsWithAny(base, "docker-compose", "compose."):
		return named("Services", keysBelow(text(), "services:"))
	case prose.EndsWithAny(base, ".yaml", ".yml"):
		return named("Objects", found(objectKind, text()))
	case strings.HasPrefix(base, "dockerfile"):
		return named("Based on", found(baseImage, text()))
	}
	return ""
}

var (
	buildTarget = regexp.MustCompile(`(?m)^([^\s.$%#=/@:]+):(?:[^=]|$)`)
	objectKind  = regexp.MustCompile(`(?m)^kind: (.+)$`)
	baseImage   = regexp.MustCompile(`(?m)^FROM ([^ \n]+)`)
)

// found gives what the pattern finds in a text, each once.
func found(pattern *regexp.Regexp, text string) (words []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(words, m[1]) {
			words = append(words, m[1])
		}
	}
	return words
}

// keysBelow are the keys right below a key at the left of a YAML file.
func keysBelow(text, key string) (keys []string) {
	inside, indent := false, 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " ")
		depth := len(line) - len(trimmed)
		name, _, isKey := strings.Cut(strings.TrimSpace(trimmed), ":")
		switch {
		case depth == 0 && name != "" && name[0] != '#':
			inside, indent = strings.TrimSpace(line) == key, 0
		case inside && isKey && name[0] != '#' && (indent == 0 || depth == indent):
			indent = depth
			keys = append(keys, name)
		}
	}
	return keys
}

// named lists names in code after a word; "" for none.
func named(word string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return word + " " + listed(names, mostDeclared)
}
