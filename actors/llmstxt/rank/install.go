package rank

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// installPages are read for commands that name the package.
var installPages = regexp.MustCompile(`(?i)(^|/)(_?index|install(ation|ing)?|get(ting)?[-_ ]started|quick[-_ ]?start|introduction|usage)\.(mdx?|rst|adoc|txt)$`)

const mostInstallPages = 8

// said is the shortest command line of the README, or else of the pages on installing, by which the package's own
// ecosystem installs it under its name; "" where no page says one.
func (v *survey) said(m manifest.Manifest) (best string) {
	if len(m.Name) < 2 {
		return ""
	}
	texts := []string{v.readmeText}
	for _, f := range v.repo.Files {
		if len(texts) <= mostInstallPages && f.Kind == scan.Document && f.Place == scan.Product && installPages.MatchString(f.Path) {
			texts = append(texts, v.head(f.Path, pageBytes))
		}
	}
	list := words.Find("install from " + m.Ecosystem)
	for _, text := range texts {
		for _, code := range page.CodeOf(text) {
			code = prose.Tidy(strings.TrimLeft(code, "$> "))
			if utf8.RuneCountInString(code) <= 100 && installs(list, code, m.Name) && (best == "" || len(code) < len(best)) {
				best = code
			}
		}
		if best != "" {
			break
		}
	}
	return best
}

// isPublished holds where a page says how to install the package, or where its manifest has what only a package that
// is published needs: that of an application has a name, too.
func (v *survey) isPublished(m manifest.Manifest) bool {
	version := m.Version
	placeholder := version == "0.0.0" || version == "0.1.0" || strings.HasPrefix(version, "0.0.0-")
	described := m.Description != "" && (m.License != "" || m.Homepage != "" || m.Repository != "")
	switch {
	case m.Private || len(m.Name) < 2:
		return false
	case m.Ecosystem == "go":
		return true // by its address
	case v.said(m) != "":
		return true
	case placeholder || v.isApplication():
		return false
	}
	switch m.Ecosystem {
	case "npm", "deno", "jsr":
		return len(m.Entries)+len(m.Commands) > 0
	case "cargo":
		return m.Description != "" && m.License != ""
	case "pypi", "maven", "gradle", "pub", "nuget":
		return described
	}
	return true
}

var applicationMark = regexp.MustCompile(`(?i)(^|/)(schema\.prisma|next\.config\.\w+|manage\.py|artisan|androidmanifest\.xml|` +
	`application[\w-]*\.(properties|ya?ml)|config/routes\.rb|appsettings\.json|lib/\w+_web/router\.ex)$`)

// isApplication tells by a file that only whole applications have.
func (v *survey) isApplication() bool {
	return slices.ContainsFunc(v.repo.Files, func(f scan.File) bool {
		return f.Place == scan.Product && depth(f.Path) < 5 && applicationMark.MatchString(f.Path)
	})
}

// installCommand is what a page says, else the usual one of a package that is published.
func (v *survey) installCommand(m manifest.Manifest) string {
	program := m.Name == v.main().about.Name && v.isProgram(v.main()) || m.Ecosystem == "go" && v.golang.isProgram()
	list := words.Find("install from " + m.Ecosystem)
	root := v.golang.of("x.go")
	switch best := v.said(m); {
	case best != "":
		return "`" + best + "`"
	case !v.isPublished(m) || m.Ecosystem == "go" && (program || root == nil || root.isCommand()):
		return ""
	case len(list) == 0:
		return v.dependencyLine(m)
	case program && m.Ecosystem == "cargo":
		return "`cargo install " + m.Name + "`"
	default:
		return "`" + list[0] + m.Name + "`"
	}
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
