package rank

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// installers are the commands by which an ecosystem adds a package to what uses it, the usual one first.
func installers(m manifest.Manifest, program bool) words.List {
	if program && (m.Ecosystem == "cargo" || m.Ecosystem == "go") {
		return words.List{m.Ecosystem + " install "}
	}
	return words.Find("install from " + m.Ecosystem)
}

// installCommand is the shortest line of the README's code by which the package's own ecosystem installs it, else the
// usual one. What is private has none, and neither has a package of Dart without a version, which cannot be published.
func (v *survey) installCommand(m manifest.Manifest) string {
	if m.Private || len(m.Name) < 2 || m.Ecosystem == "pub" && m.Version == "" {
		return ""
	}
	program := m.Name == v.main().about.Name && v.isProgram(v.main()) || m.Ecosystem == "go" && v.golang.isProgram()
	list, best := installers(m, program), ""
	for _, code := range page.CodeOf(v.named.Text) {
		code = prose.Tidy(strings.TrimLeft(code, "$> "))
		if utf8.RuneCountInString(code) <= 100 && installs(list, code, m.Name) && (best == "" || len(code) < len(best)) {
			best = code
		}
	}
	switch {
	case best != "":
	case len(list) == 0:
		return v.dependencyLine(m)
	case m.Ecosystem == "go" && program:
		best = list[0] + path.Join(m.Name, v.golang.commands()[0].dir) + "@latest"
	default:
		best = list[0] + m.Name
	}
	return "`" + best + "`"
}

// installs wants one command with the package's name as a word of it.
func installs(list words.List, code, name string) bool {
	for _, start := range list {
		rest, ok := strings.CutPrefix(code, start)
		if !ok || strings.ContainsAny(rest, "&|;<#") {
			continue
		}
		for word := range strings.FieldsSeq(rest) {
			word = strings.Trim(word, "'\"`")
			after := word[min(len(name), len(word)):]
			if strings.EqualFold(word, name+after) && (after == "" || strings.IndexByte("@[/", after[0]) >= 0) && !pinned.MatchString(after) {
				return true
			}
		}
	}
	return false
}

// pinned is "@1.2" and "/cmd/x@v1.2.3", which were right when the page was written.
var pinned = regexp.MustCompile(`@v?(\d|$)`)

// dependencyLine is what a build file says to depend on the package, as far as its version has been released.
func (v *survey) dependencyLine(m manifest.Manifest) string {
	version := cmp.Or(m.Version, strings.TrimPrefix(v.repo.Origin.Version, "v"))
	parts := strings.Split(version, ".")
	switch {
	case (m.Ecosystem == "maven" || m.Ecosystem == "gradle") && strings.Count(m.Name, ":") == 1 && version != "" &&
		!prose.ContainsAny(version, "SNAPSHOT", "$"):
		return "`" + m.Name + ":" + version + "`"
	case m.Ecosystem == "hex" && len(parts) > 1 && !strings.Contains(version, "-"):
		return "`{:" + m.Name + `, "~> ` + parts[0] + "." + parts[1] + "\"}`"
	}
	return ""
}
