package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// installLine returns the shortest command line in the README by which the package's own ecosystem installs it under
// its name; "" if there is none.
func (v *survey) installLine(m manifest.Manifest) (best string) {
	if len(m.Name) < 2 {
		return ""
	}
	list := words.Find("install from " + m.Ecosystem)
	for _, code := range page.CodeOf(v.readmeText) {
		code = inVersion.ReplaceAllString(prose.Tidy(strings.TrimLeft(code, "$> ")), "")
		if utf8.RuneCountInString(code) <= 100 && installs(list, code, m.Name) && (best == "" || len(code) < len(best)) {
			best = code
		}
	}
	return best
}

// isPublished reports whether the package is published: a page says how to install it, or its manifest has what only
// a published package needs. A name alone proves nothing, because applications have names too.
func (v *survey) isPublished(m manifest.Manifest) bool {
	version := m.Version
	placeholder := version == "0.0.0" || version == "0.1.0" || strings.HasPrefix(version, "0.0.0-")
	described := m.Description != "" && (m.License != "" || m.Homepage != "" || m.Repository != "")
	switch {
	case m.Private || len(m.Name) < 2:
		return false
	case m.Ecosystem == "go":
		return true // because of its address
	case v.installLine(m) != "":
		return true
	case placeholder:
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

// installCommand returns the command on a page, or else the usual command for a published package.
func (v *survey) installCommand(m manifest.Manifest) string {
	program := m.Name == v.main().About.Name && v.isProgram(v.main()) || m.Ecosystem == "go" && (v.golang.isProgram() ||
		slices.ContainsFunc(v.golang.commands(), func(p *goPackage) bool { return path.Base(p.dir) == moduleName(m.Name) }))
	list := words.Find("install from " + m.Ecosystem)
	root, other := v.golang.of("x.go"), v.otherInstall()
	switch best := v.installLine(m); {
	case best != "":
		return "`" + best + "`"
	case other != "" && (len(list) == 0 || !v.isPublished(m)):
		return "`" + other + "`"
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

// installs reports whether the code is a single install command that contains the package's name as a word.
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

// pinned matches "@1.2" and "/cmd/x@v1.2.3", which were current when the page was written, "@version" and "@next".
var pinned = lazyregexp.New(`(?i)@v?(\d|$)|@\W*(version|tag|x\.|next|alpha|beta|canary|nightly|rc|dev)\b`)

var (
	// otherForms are lines that install from where no manifest of a package need be, or that depend on a package.
	otherForms = lazyregexp.New(`^((utils::)?install\.packages\(\S+\)$|(pak|remotes|devtools)::\w+\(\S+\)$|helm (upgrade --install|install|upgrade -i) |brew install |dotnet (add package|tool install) |mix archive\.install hex |` +
		`\.package\(.*url: *"|source *= *"[^".][^"]*"$|\{:\w+, *"[~><= ]+\d[\d.]*".*\}|id[ (]*["'][\w.-]+["']\)? version ["']\d[\w.-]*["']$|(implementation|api|compileOnly|ksp|kapt)[ (]+["'][\w.-]+:[\w.-]+:\d[\w.-]*["']\)?$)`)
	// before is a line that must precede the one that installs.
	before = lazyregexp.New(`^(helm repo add \S+ https?://\S+|brew tap \S+/\S+)$`)
	// inVersion is a version that was current when the page was written.
	inVersion = lazyregexp.New(` --version[ =]v?\d\S*`)
	// dependency is one of Maven, or one of Gradle in words that it no longer knows.
	dependency = lazyregexp.New(`(?:<groupId>|\bcompile[ (]+["'])([\w.-]+)(?:</groupId>\s*<artifactId>|:)([\w.-]+)(?:</artifactId>\s*<version>|:)(\d[\w.-]*)(?:</version>|["'])`)
	// elsewhere is a line for a system that brew does not serve.
	elsewhere   = lazyregexp.New(`(?m)^.*\b(?:apt|apt-get|yum|dnf|zypper|apk|pacman|choco|scoop|winget) (?:-\S+ )*(?:install|add|-S\w*) .*`)
	placeholder = lazyregexp.New(`(?i)[<{$[]\W*\w*(version|tag|name|release|repo)|\bx\.y|\.x\.|\b(latest_)?version\b["'@]|your-|\.\.\.|@version|--HEAD\b`)
	terraform   = lazyregexp.New(`^terraform-([a-z0-9]+)-(.+)$`)
)

// otherInstall returns the first line of the README by which another tool installs the project, or a build depends on it.
func (v *survey) otherInstall() string {
	added := ""
	for _, code := range page.CodeOf(v.readmeText) {
		code = strings.TrimRight(prose.Tidy(strings.TrimLeft(code, "$> ")), ",")
		switch {
		case placeholder.MatchString(code) || strings.ContainsAny(code, "|;`") || utf8.RuneCountInString(code) > 160:
		case before.MatchString(code):
			added = code + " && "
		case strings.HasPrefix(code, "brew ") && slices.ContainsFunc(elsewhere.FindAllString(v.readmeText, -1), v.isOf):
			// it is for one of several systems
		case otherForms.MatchString(code) && v.isOf(code):
			if !strings.HasPrefix(code, added[:min(5, len(added))]) {
				added = ""
			}
			return added + inVersion.ReplaceAllString(code, "")
		}
	}
	for _, m := range dependency.FindAllStringSubmatch(v.readmeText, -1) {
		if v.isOf(m[2]) {
			return strings.Join(m[1:], ":")
		}
	}
	return ""
}

// isOf reports whether the code names the project as a word.
func (v *survey) isOf(code string) bool {
	names := []string{moduleName(v.product().Name), v.repo.Origin.Repo, v.repo.Name}
	if m := terraform.FindStringSubmatch(v.repo.Origin.Repo); m != nil && m[1] == "provider" {
		names = []string{m[2]}
	} else if m != nil {
		names = []string{m[2] + "/" + m[1]}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return len(name) > 1 && regexp.MustCompile(`(?i)(^|[^\w-])`+regexp.QuoteMeta(name)+`([^\w-]|$)`).MatchString(code)
	})
}

// dependencyLine returns the line with which a build file depends on the package, if its version has been released.
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
