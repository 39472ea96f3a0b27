package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/manifest"
	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// installers are the commands by which an ecosystem adds a package to what uses it, the usual one first.
func installers(m manifest.Manifest, program bool) words.List {
	if program && (m.Ecosystem == "cargo" || m.Ecosystem == "go") {
		return words.List{m.Ecosystem + " install "}
	}
	return words.Find("install from " + m.Ecosystem)
}

// installCommand is the shortest line of the README's code by which the package's own ecosystem installs it, else the
// usual one. What is private has none.
func (v *survey) installCommand(m manifest.Manifest) string {
	if m.Private || len(m.Name) < 2 {
		return ""
	}
	program := m.Name == v.root().about.Name && v.isProgram(v.root()) || m.Ecosystem == "go" && v.golang.isProgram()
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
		best = v.dependencyLine(m)
	case m.Ecosystem == "go" && program:
		best = list[0] + path.Join(m.Name, v.golang.programDir()) + "@latest"
	default:
		best = list[0] + m.Name
	}
	return quoted([]string{best}, 1)
}

// installs wants one command with the package's name as a word of it.
func installs(list words.List, code, name string) bool {
	for _, start := range list {
		rest, ok := strings.CutPrefix(code, start)
		if !ok || strings.ContainsAny(rest, "&|;<#") {
			continue
		}
		for word := range strings.FieldsSeq(rest) {
			after, ok := strings.CutPrefix(strings.Trim(word, "'\"`"), name)
			if ok && (after == "" || strings.IndexByte("@[/", after[0]) >= 0) && !pinned.MatchString(after) {
				return true
			}
		}
	}
	return false
}

// pinned is "@1.2" and "/cmd/x@v1.2.3", which were right when the page was written.
var pinned = regexp.MustCompile(`@v?(\d|$)`)

// dependencyLine is what a build file says to depend on the package: for mix.exs, what the README says.
func (v *survey) dependencyLine(m manifest.Manifest) string {
	version := cmp.Or(m.Version, strings.TrimPrefix(v.repo.Origin.Version, "v"))
	switch {
	case (m.Ecosystem == "maven" || m.Ecosystem == "gradle") && strings.Count(m.Name, ":") == 1 && version != "" &&
		!strings.Contains(version, "SNAPSHOT") && !strings.Contains(version, "$"):
		return m.Name + ":" + version
	case m.Ecosystem == "hex":
		for _, code := range page.CodeOf(v.named.Text) {
			code = strings.TrimRight(prose.Tidy(code), ",")
			if strings.HasPrefix(code, "{:"+m.Name+",") && strings.HasSuffix(code, "}") && len(code) < 80 {
				return code
			}
		}
		if parts := strings.SplitN(version, ".", 3); len(parts) > 1 {
			return "{:" + m.Name + `, "~> ` + parts[0] + "." + parts[1] + `"}`
		}
	}
	return ""
}

// isProgram holds for a Go tree whose root is a command, or that has nothing but commands to import.
func (t goTree) isProgram() bool {
	for _, p := range t {
		if p.dir == "." {
			return p.isCommand()
		}
	}
	return len(t) > 0 && !slices.ContainsFunc(t, func(p *goPackage) bool {
		return !p.isCommand() && !p.isInternal() && !p.isHidden()
	})
}

// programDir is the folder of the command that one installs: the root's, or the shallowest.
func (t goTree) programDir() string {
	best := ""
	for _, p := range t {
		if p.isCommand() && !p.isHidden() && (best == "" || p.dir == "." || depth(p.dir) < depth(best)) &&
			best != "." {
			best = p.dir
		}
	}
	return best
}
