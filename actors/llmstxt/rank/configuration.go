package rank

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/manifest"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
)

// mostObjects are the YAML files that are looked into.
const mostObjects = 200

// configuration lists what builds and configures the product, and what deploys it, near the root.
func (j *judge) configuration(c choice) {
	objects := mostObjects
	for i := range j.repo.Files {
		f := &j.repo.Files[i]
		if f.Place != scan.Product || f.Size == 0 || depth(f.Path) > 3 || f.Kind == scan.Document ||
			f.Kind == scan.Source && !manifest.Known(f.Path) {
			continue
		}
		section, points, reason := j.configOf(f, &objects)
		if section == "" {
			if f.Kind == scan.Config && depth(f.Path) == 0 {
				j.passed.add(f.Path, 5, "configures tools, not the product")
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

func (j *judge) configOf(f *scan.File, objects *int) (section string, points int, reason string) {
	name := strings.ToLower(path.Base(f.Path))
	stem := strings.TrimSuffix(name, path.Ext(name))
	switch {
	case manifest.Known(f.Path) && depth(f.Path) == 0:
		if of := j.ecosystemOf(f.Path); j.mix.sum > 0 && len(source.In(of)) > 0 && j.mix.share(of) < 10 {
			return "", 0, ""
		}
		return secConfiguration, 40, "manifest at the root"
	case depth(f.Path) == 0 && (name == "makefile" || name == "justfile" || name == "taskfile.yml" ||
		name == "gnumakefile"):
		return secConfiguration, 30, "build targets at the root"
	case depth(f.Path) > 1 && !j.named.Path(f.Path) && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name,
		".yml"):
	case strings.HasPrefix(name, "dockerfile") || strings.HasPrefix(name, "docker-compose") || name == "compose.yaml" ||
		name == "compose.yml" ||
		name == "containerfile" || name == "procfile" || name == "chart.yaml":
		return secOperations, 30, "says how to run it"
	case strings.Contains(stem, "example") || strings.Contains(stem, "sample") || strings.HasPrefix(stem, "default") ||
		strings.HasSuffix(name, ".conf") && depth(f.Path) == 0:
		if f.Kind == scan.Config {
			return secConfiguration, 40, "example configuration"
		}
	case (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")) && !strings.HasPrefix(name, ".") &&
		f.Size < 64<<10:
		if *objects--; *objects < 0 {
			return "", 0, ""
		}
		if text := j.head(f.Path, 512); strings.Contains(text, "apiVersion:") && strings.Contains(text, "kind:") {
			return secOperations, 10, "a Kubernetes object"
		}
	}
	return "", 0, ""
}

func (v *survey) ecosystemOf(p string) string {
	m, _ := manifest.Parse(p, nil)
	return m.Ecosystem
}
