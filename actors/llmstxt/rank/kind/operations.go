package kind

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const (
	settingBytes = 32 << 10
	mostNames    = 8
	mostOfAKind  = 20
)

// charts are those of Helm; their pages are the packages of the repository, found by their manifests.
func charts(t Tree) Found {
	found := Found{Why: "of the chart's making"}
	for _, chart := range t.named("Chart.yaml") {
		dir := path.Dir(chart)
		if values := path.Join(dir, "values.yaml"); t.has(values) && len(found.Links) < mostOfAKind {
			found.add("Configuration", values, t.names(yamlKey, values), "the values of a chart")
		}
		for _, p := range t.below(dir) {
			if prose.EndsWithAny(p, "/NOTES.txt", ".tpl") || hasSegment(p, "ci", "tests") {
				found.Aside = append(found.Aside, p)
			}
		}
	}
	return found
}

// roles are Ansible's, of a collection or of a repository of their own, and the playbooks around them.
func roles(t Tree) Found {
	var found Found
	for _, tasks := range t.named("main.yml", "main.yaml") {
		dir := path.Dir(path.Dir(tasks))
		if path.Base(path.Dir(tasks)) != "tasks" || dir != "." && path.Base(path.Dir(dir)) != "roles" {
			continue
		}
		role := Link{Section: "Packages", Title: path.Base(dir), Reason: "a role"}
		for _, p := range []string{"README.md", "README.rst", "meta/main.yml"} {
			if role.Path == "" && t.has(path.Join(dir, p)) {
				role.Path = path.Join(dir, p)
			}
		}
		if role.Path != "" && dir != "." {
			found.Links = append(found.Links, role)
		}
		for _, p := range []string{"defaults/main.yml", "defaults/main.yaml"} {
			if p = path.Join(dir, p); t.has(p) {
				found.add("Configuration", p, t.names(yamlKey, p), "the defaults of a role")
			}
		}
		found.add("Source", tasks, t.steps(tasks), "the tasks of a role")
	}
	if len(found.Links) == 0 {
		return found
	}
	if t.has("meta/main.yml") {
		found.add("Configuration", "meta/main.yml", "", "says what a role needs")
	}
	for _, p := range t.matching(func(p string) bool { return isYAML(p) && path.Base(path.Dir(p)) == "playbooks" }) {
		found.add("Operations", p, t.steps(p), "a playbook")
	}
	return found
}

var stepName = regexp.MustCompile(`(?m)^\s*- name: *["']?([^"'\n]+?)["']?\s*$`)

// steps is the names of the first tasks or plays, as a page's note is its headings.
func (t Tree) steps(p string) string { return found(stepName, t.Read(p, settingBytes), "", " · ") }

var (
	yamlKey  = regexp.MustCompile(`(?m)^([A-Za-z_][\w.-]*):`)
	declared = regexp.MustCompile(`(?m)^(?:variable|output|module|resource "[^"]+"|data "[^"]+") "([^"]+)"`)
)

// names lists what a file sets or declares.
func (t Tree) names(pattern *regexp.Regexp, p string) string {
	return names(pattern, t.Read(p, settingBytes))
}

// names lists what the pattern finds.
func names(pattern *regexp.Regexp, text string) string { return found(pattern, text, "`", ", ") }

// found joins what the pattern finds, once each and between marks.
func found(pattern *regexp.Regexp, text, mark, gap string) string {
	var list []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		if name := mark + m[1] + mark; !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > mostNames {
		list = append(list[:mostNames], "…")
	}
	return strings.Join(list, gap)
}

// modules are Terraform's: the one at the root by its inputs and outputs, those inside by their pages.
func modules(t Tree) Found {
	if !t.has("variables.tf") && !t.has("main.tf") {
		return Found{}
	}
	found := Found{Why: "wraps or checks the module"}
	for _, p := range []string{"variables.tf", "outputs.tf", "main.tf", "versions.tf"} {
		if t.has(p) {
			found.add("Source", p, t.names(declared, p), "what the module takes, gives or makes")
		}
	}
	for _, p := range t.matching(func(p string) bool {
		return path.Ext(p) == ".tf" && path.Base(path.Dir(path.Dir(p))) == "modules"
	}) {
		switch dir := path.Dir(p); path.Base(p) {
		case "variables.tf":
			found.add("Source", p, t.names(declared, p), "what a module inside takes")
		case "main.tf":
			inner := Link{Path: p, Section: "Packages", Title: path.Base(dir), Reason: "a module inside"}
			if page := dir + "/README.md"; t.has(page) {
				inner.Path = page
			}
			found.Links = append(found.Links, inner)
		}
	}
	found.Aside = t.matching(func(p string) bool {
		return hasSegment(p, "wrappers") || path.Ext(p) == ".tf" && hasSegment(p, "tests", "test") ||
			strings.HasSuffix(p, ".tftest.hcl")
	})
	return found
}

// cluster is infrastructure without code: what configures services is all there is.
func cluster(t Tree) Found {
	for i := range t.Files {
		if f := &t.Files[i]; f.Kind == scan.Source && f.Place == scan.Product && f.Language != "Shell" ||
			slices.Contains([]string{"Chart.yaml", "galaxy.yml"}, path.Base(f.Path)) || f.Path == "tasks/main.yml" {
			return Found{}
		}
	}
	configs := t.matching(func(p string) bool {
		return (isYAML(p) || path.Ext(p) == ".conf" || path.Ext(p) == ".toml" || path.Base(p) == "Caddyfile") &&
			!strings.HasPrefix(path.Base(p), ".") && strings.Count(p, "/") < 5 &&
			!hasSegment(p, "certs", "dashboards", "secrets")
	})
	if t.Library || len(configs) < fewChapters {
		return Found{}
	}
	var found Found
	for _, p := range configs[:min(len(configs), 2*mostOfAKind)] {
		note := comments.FindString(t.Read(p, 2<<10))
		note = prose.Tidy(strings.ReplaceAll("\n"+note, "\n# ", " "))
		found.add("Operations", p, note, "configures what runs")
	}
	return found
}

// comments are those that a file of settings begins with.
var comments = regexp.MustCompile(`^(?:# .*\n)+`)

func isYAML(p string) bool { return path.Ext(p) == ".yaml" || path.Ext(p) == ".yml" }
