package rank

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// class determines which evidence counts for a file.
type class uint8

const (
	classPage class = iota
	classSource
	classSetting
	classExample
	classOptional
	classNone // not linked
)

// item is a file that may be linked.
type item struct {
	Link
	file    *scan.File
	class   class
	points  float64
	outline surface.Outline // of a file that was parsed

	listed  int    // position in the maintainers' navigation, from 1; 0 if it is not there
	group   string // its group in the navigation
	label   string // its name there, or ""
	online  string // its path on the site, or ""
	place   int    // place in the order in which a site's pages deserve links, from 1; 0 for none
	members string // the package that the file represents: its name or its folder
	command bool   // that package is a program
	entry   string // the manifest that names the file as an entry point
	role    string // the first reason that says how the product uses the file, or ""

	imported int  // number of files in the product that use it
	marked   bool // words of its path speak against it
}

// add adds points. It keeps the reason of points that speak for the file.
func (x *item) add(points float64, reason string) {
	x.points += points
	if reason != "" && points > 0 && !slices.Contains(x.Reasons, reason) {
		x.Reasons = append(x.Reasons, reason)
	}
}

// addRole adds points for how the product uses the file.
func (x *item) addRole(points float64, role string) {
	if x.add(points, role); points > 0 && x.role == "" {
		x.role = role
	}
}

// logShare returns n as a fraction of most, on a logarithmic scale.
func logShare(n, most int) float64 {
	if n <= 0 || most <= 0 {
		return 0
	}
	return math.Log1p(float64(n)) / math.Log1p(float64(max(n, most)))
}

// byPoints orders items by points, the best first, then by depth and name.
func byPoints(x, y *item) int {
	return cmp.Or(cmp.Compare(y.points, x.points), cmp.Compare(depth(x.Path), depth(y.Path)), strings.Compare(x.Path,
		y.Path))
}

// compareBy orders paths by rank, then by depth, then by name.
func compareBy(rank func(string) int) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(depth(a), depth(b)), strings.Compare(a, b))
	}
}

// mostPassed bounds the files in Index.Passed.
const mostPassed = 300

func (r *ranking) pass(path, reason string) {
	if len(r.passed) < mostPassed {
		r.passed = append(r.passed, Passed{path, reason})
	}
}

// readItems makes items of the files that may be linked, and records for each other file why it may not be.
func (r *ranking) readItems() {
	code, bare := 0, 0
	for f := range r.files() {
		code += boolToInt(f.Kind == scan.Source && f.Language != "Shell" && !strings.HasPrefix(f.Language, "Vim"))
		bare += boolToInt(isBare(f))
	}
	r.settings = bare > 3*code && bare >= manyBare
	for i := range r.repo.Files {
		f := &r.repo.Files[i]
		if reason := r.excludeReason(f); reason != "" {
			if f.Place != scan.Test && f.Place != scan.Meta {
				r.pass(f.Path, reason)
			}
			continue
		}
		x := &item{Link: Link{Path: f.Path}, file: f, class: r.classOf(f)}
		r.items = append(r.items, x)
		r.at[f.Path] = x
	}
	r.promoteSettings()
	r.chooseExamples()
}

var exampleFolder = lazyregexp.New(`(?i)^_?(examples?|samples?|demos?|cookbook)$`)

// chooseExamples keeps one entry file for each example: its README, or else its main file, or else its first file.
func (r *ranking) chooseExamples() {
	chosen := make(map[string]*item)
	rank := compareBy(func(p string) int {
		switch stem := stemOf(p); {
		case page.IsReadme(p):
			return 0
		case stem == "main" || stem == "index" || stem == "app":
			return 1
		case r.byPath[p].Kind == scan.Source:
			return 2
		}
		return 3
	})
	for _, x := range r.items {
		if x.class != classExample {
			continue
		}
		dir, parts := x.Path, strings.Split(x.Path, "/")
		for i, part := range parts[:len(parts)-1] {
			if exampleFolder.MatchString(part) {
				dir = strings.Join(parts[:min(i+2, len(parts))], "/")
				break
			}
		}
		x.add(0.5-0.05*float64(depth(x.Path)), "an example")
		old := chosen[dir]
		if old == nil || rank(x.Path, old.Path) < 0 {
			x, old = old, x // from here on x is the one that goes
			chosen[dir] = old
		}
		if x != nil {
			x.class = classNone
		}
	}
}

// classOf returns the class of a file.
func (r *ranking) classOf(f *scan.File) class {
	switch {
	case f.Path == r.readme.Path, r.onSite[f.Path] && !page.IsLicence(path.Base(f.Path)):
		return classPage
	case isOptional(f.Path):
		return classOptional
	case f.Place == scan.Example:
		return classExample
	case isPageFile(f):
		return classPage
	case f.Kind == scan.Source:
		return classSource
	}
	return classSetting
}

func isPageFile(f *scan.File) bool {
	if f.Kind == scan.Document {
		return page.Is(f.Path)
	}
	return f.Kind == scan.Other && strings.EqualFold(path.Ext(f.Path), ".txt") && f.Size > 4<<10 && depth(f.Path) == 0
}

// promoteSettings treats settings as the product in a repository that has little else.
func (r *ranking) promoteSettings() {
	code, settings, pages := 0, 0, 0
	for _, x := range r.items {
		switch {
		case x.class == classSource && x.file.Language != "Shell":
			code++
		case x.class == classSetting && prose.EndsWithAny(strings.ToLower(x.Path), structured...):
			settings++
		case x.class == classPage:
			pages++
		}
	}
	r.settings = r.settings || 3*code < settings && pages < 2*settings
	for _, x := range r.items {
		if r.settings && x.class == classSetting && !isData.MatchString(x.Path) {
			x.class = classSource
		}
	}
}

var isData = lazyregexp.New(`(?i)(\.(json|pem|csv|tsv|xml|svg|cff|tpl|j2|erb|txt|patch|sql|css|html?|key|crt|in)|(^|/)\.[^/]*|\.example)$`)

var structured = []string{".yaml", ".yml", ".tf", ".hcl", ".conf", ".toml", ".ini", ".nix", ".cfg"}

var (
	optionalName = lazyregexp.New(`(?i)^(agents|claude|gemini|copilot-instructions|contributing|` +
		`(un)?licen[cs]e|copying|change(log|s)|history|news|release[-_]notes|upgrad(e|ing)|migrat(ion|ing)|security)` +
		`([-_]([A-Z0-9.+]+|guide|policy|[vV]?\d.*))?(\.(md|mdx|rst|txt|adoc|asc|org|markdown|rdoc))?$`)
	changeName = lazyregexp.New(`(?i)^(change(log|s)|history|release[-_]notes|analyzerreleases)([-_.].*)?\.\w+$`)
	oldChanges = lazyregexp.New(`(?i)(^|/)(release[-_ ]?notes/|openspec/changes/|(change(log|s)|history|news|release[-_]notes)[-_.]?v?\d[^/]*$)`)
	peopleName = lazyregexp.New(`(?i)^(authors|contributors|maintainers|credits|thanks|sponsors?(hip)?|backers|` +
		`governance|(code.of.)?conduct|patents|notice|charter|committers|codeowners|support|funding|collaborat.*|adopters|` +
		`users|showcase|todo|roadmap|triag.*|meetings|.*_template|acknowledg.*|project.charter|copyright|third.party.*|security.contacts|style.?guide|changelogs?.ya?ml|releas(e|ing)([-_.]\w+)*|projects?.using.*)\.?\w*$`)
	// peoplePage matches pages that stand on sites, too.
	peoplePage = lazyregexp.New(`(?i)^(authors|credits|kudos|thanks|sponsors?|backers|adopters|acknowledg\w*|who.?s.using.*|used.by|(open.?source|commercial|known).users)\.\w+$`)
	// blankForm matches what the authors of proposals copy.
	blankForm = lazyregexp.New(`(?i)(^|/)((proposals?|rfcs?|adrs?|keps?|designs?|features?|decisions)/(.*/)?[^/]*|\d+[-_])template\.\w+$`)
	toolFile  = lazyregexp.New(`(?i)^(robots|requirements.*|llms(-\w+)?)\.txt$|^(llms|repo\.(graph|force))\.json$|^(summary|_?sidebar|_navbar|_coverpage|_?toc)\.(md|rst)$|^cran-comments|^cmakelists\.txt$|\.(slnx?|props|targets|output)$`)
	// marked matches words of paths that speak against a file, as weak evidence that use by the product overrides.
	// inner and post match files that are not for others, and foreign matches files that others have made, or that are
	// parts of pages.
	marked = lazyregexp.New(`(?i)(^|[/_.-])(bench(mark)?(s|es|ing|suite)?|perf(ormance)?|coverage|jacoco|jmh|fuzz(ing)?|tests?|testing|test-?(utils?|kit|support|app|console)|` +
		`e2e|cypress|molecule|fixtures?|mocks?|stubs?|shims?|polyfills?|compat|_?deprecat(ed|ion)|legacy|` +
		`build|buildsrc|build-(logic|support|tools)|eng|tools?|scripts?|hack|ci|dev|contrib|extras?|misc|etc|packaging|pkg-config|debian|support|` +
		`locales?|i18n|lang|translations|generat(ed|ors?)|skeletons?|wrappers?|playgrounds?|sandbox|data-raw|revdep|` +
		`blog|_posts|posts|news|rfcs?|proposals|plans|website|snap|m4|_\w+)([/_.-]|$)`)
	wording = lazyregexp.New(`(?i)(^|/)(locales?|i18n|lang|translations|messages|l10n)/([a-z]{2,3}([-_][a-z]{2,4})?)(/.*|\.(json|ya?ml|po|ts|js|php|properties|toml|ftl))$`)
	inner   = lazyregexp.New(`(?i)(^|/)_?(internals?|private|priv|impl|details?)/`)
	post    = lazyregexp.New(`(?i)(^|/)(blog(\.mdx?$|/)|(_posts|templates?|template-[^/]+|starters?|boilerplates?|playgrounds?)/)`)
	foreign = lazyregexp.New(`(?i)(^|/)(deps|extern(als?)?|bundled|embedded\w*|vendor\w*|third.?party|3rd.?party|single_include|docset|licenses|inst/doc|priv/static|(docs?|site|website)/(.*/)?_?(snippets|partials|includes)|skills/(.*/)?references?)/`)
)

// isSkill reports whether a page is a skill that agents of users load, and not one of the maintainers' own.
func isSkill(p string) bool { return path.Base(p) == "SKILL.md" && !strings.Contains("/"+p, "/.") }

func isOptional(p string) bool {
	dir := path.Dir(p)
	return isSkill(p) || dir == "." && optionalName.MatchString(path.Base(p)) ||
		(dir == ".github" || dir == "docs") && strings.HasPrefix(strings.ToLower(path.Base(p)), "contributing.")
}

// excludeReason returns why a file must not be linked, whatever its evidence; "" if it may be.
func (r *ranking) excludeReason(f *scan.File) string {
	base := path.Base(f.Path)
	switch {
	case f.Size == 0:
		return "empty"
	case r.options.Exclude.Name(f.Path):
		return "excluded by the settings"
	case r.options.Include != nil && !r.options.Include.Name(f.Path):
		return "not included by the settings"
	case r.options.Include != nil:
		return ""
	case f.Kind == scan.Document && f.Path != r.readme.Path && post.MatchString(f.Path) && r.publishes():
		return "news, or the start of another project"
	case f.Kind == scan.Document && peoplePage.MatchString(base):
		return "about people"
	case f.Kind == scan.Document && blankForm.MatchString(f.Path):
		return "a form to fill in"
	case r.isSuperseded(f.Path):
		return "about an older version"
	case r.makesSite(f):
		return "makes the site"
	case f.Path == r.readme.Path, r.onSite[f.Path] && !page.IsLicence(base) && !aboutConduct.MatchString(base):
		return ""
	case f.Place == scan.Meta && !isOptional(f.Path):
		return "for tools, or for the host"
	case f.Place == scan.Test:
		return "a test"
	case f.Place == scan.Generated:
		return "written by a program"
	case page.IsLicence(base) && !isOptional(f.Path):
		return "a licence of a part"
	case depth(f.Path) > 0 && f.Kind == scan.Document && changeName.MatchString(base), oldChanges.MatchString(f.Path):
		return "what changed in a part, or long ago"
	case toolFile.MatchString(base):
		return "for tools"
	case foreign.MatchString(f.Path) && !r.named.Targets[f.Path]:
		return "made by others, or a part of pages"
	case peopleName.MatchString(base) && (f.Kind == scan.Document || depth(f.Path) == 0):
		return "about people, or the project's own work"
	case f.Place == scan.Example && f.Kind == scan.Manifest && depth(f.Path) == 1:
		return "builds the examples"
	case depth(f.Path) > 0 && f.Kind == scan.Document && isContributing(base) && !isOptional(f.Path):
		return "how to contribute to a part"
	case wording.MatchString(f.Path), f.Kind == scan.Document && r.isTranslation(f.Path):
		return "a translation"
	case r.isBuilt(f.Path):
		return "built from a source file next to it"
	case f.Path != r.readme.Path && path.Dir(f.Path) == path.Dir(r.readme.Path) && page.IsReadme(base):
		return "the README in another form"
	case r.isOlder(f.Path):
		return "an older version"
	case f.Language == "Shell" && r.isForeign(f) && !r.named.Targets[f.Path] && !r.named.Path(f.Path):
		return "a script around the product"
	case isToolConfig(f) && !r.named.Targets[f.Path] && !r.settings:
		return "sets up tools, not the product"
	case !r.explains(f):
		return "neither explains nor runs"
	}
	return ""
}

// explains reports whether a file is of a kind that a reader of the index opens: pages, sources, manifests, and settings
// that frameworks look for or that show how the product is set up. Pictures, data and certificates are not.
func (r *ranking) explains(f *scan.File) bool {
	low := strings.ToLower(path.Base(f.Path))
	switch {
	case f.Kind == scan.Source, f.Kind == scan.Document, f.Kind == scan.Manifest, isPageFile(f), isOptional(f.Path):
		return true
	case media.MatchString(low):
		return false
	}
	return r.settings && isBare(f) || conventional.MatchString("/"+f.Path) && !siteFolder.MatchString(f.Path) && (depth(f.Path) == 0 || low != "makefile") || prose.EndsWithAny(low, structured...) ||
		depth(f.Path) < 3 && prose.ContainsAny(low, "example", "sample", "default") || r.named.Targets[f.Path] && !isData.MatchString(low)
}

// manyBare is from how many bare files on a repository with hardly any code is about them.
const manyBare = 5

// isBare reports whether the file has no extension, as dotfiles without their dot, and is no other kind of file.
func isBare(f *scan.File) bool {
	return (f.Kind == scan.Other || f.Kind == scan.Config) && depth(f.Path) < 3 && !strings.Contains(path.Base(f.Path), ".")
}

var aboutConduct = lazyregexp.New(`(?i)^code.of.conduct\.`)

var siteFolder = lazyregexp.New(`(?i)^(docs?|site|website|www)/`)

var media = lazyregexp.New(`(?i)\.(png|svg|jpe?g|gif|webp|avif|ico|bmp|mp[34]|webm|mov|wav|pdf|pptx|drawio|woff2?|ttf|otf|eot|zip|gz|jar|exe|cast|tape|` +
	`pem|key|crt|pfx|p12|lock|map|snap|s?css|csv|tsv|patch|min\.js)$`)

var toolConfig = lazyregexp.New(`(?i)(\.config\.\w+|rc(\.\w+)?|ignore|\.lock|\.ya?ml\.in|\.gradle\.kts|tsconfig.*\.json)$`)

// isToolConfig reports whether the file configures or drives a tool. Build programs count, in any language.
func isToolConfig(f *scan.File) bool {
	base := strings.ToLower(path.Base(f.Path))
	return f.Kind != scan.Document && f.Kind != scan.Manifest && toolConfig.MatchString(base) ||
		slices.Contains([]string{"conf.py", "build.rs", "gulpfile.js", "gruntfile.js", "noxfile.py", "fabfile.py", "tasks.py",
			"extconf.rb", "package-info.java", "module-info.java", "assemblyinfo.cs", "setup.py", "setup.hs", "setup.lhs", "version.go", "version.py"}, base)
}

var (
	translated = lazyregexp.New(`^(.+?)[._-]([a-z]{2}|[a-z]{2}[-_]\w{2,4}|[^\x00-\x7F]+)$`)
	localeDir  = lazyregexp.New(`^([a-z]{2}|[a-z]{2}[-_][A-Za-z]{2,4})$`)
)

// isTranslation recognizes README.de.md and guide.zh-CN.md beside the page that they translate. It also recognizes
// the folder of a language beside a folder with the same pages in English, or without a language.
func (r *ranking) isTranslation(p string) bool {
	ext := path.Ext(p)
	if parts := translated.FindStringSubmatch(strings.TrimSuffix(p, ext)); parts != nil && r.byPath[parts[1]+ext] != nil {
		return true
	}
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if !localeDir.MatchString(part) || part == "en" || strings.HasPrefix(part, "en-") {
			continue
		}
		above, below := strings.Join(parts[:i], "/"), strings.Join(parts[i+1:], "/")
		for _, other := range []string{path.Join(above, "en", below), path.Join(above, "en-US", below), path.Join(above, below)} {
			if r.byPath[other] != nil {
				return true
			}
		}
		if i > 0 && slices.Contains([]string{"i18n", "translations", "locales", "lang"}, strings.ToLower(parts[i-1])) {
			return true
		}
	}
	return false
}

// isBuilt reports whether a script was compiled from a TypeScript file of the repository, which has the same path but
// for its beginning.
func (r *ranking) isBuilt(p string) bool {
	stem, declares := strings.CutSuffix(strings.TrimSuffix(p, path.Ext(p)), ".d")
	if ext := path.Ext(p); !declares && ext != ".js" && ext != ".cjs" && ext != ".mjs" {
		return false
	}
	_, below, _ := strings.Cut(stem, "/")
	return slices.ContainsFunc([]string{stem, "src/" + stem, "src/" + below, "source/" + below, "lib/" + below}, func(dir string) bool {
		return r.byPath[dir+".ts"] != nil || r.byPath[dir+".tsx"] != nil || r.byPath[dir+".mts"] != nil
	})
}

var versionFolder = lazyregexp.New(`(^|/)v[0-8]/`)

// ofVersion matches a page about a change of version. Its groups are what its siblings begin with, too, and the version.
var ofVersion = lazyregexp.New(`(?i)^(.*/)?((?:migrat|upgrad|release|what.?s.?new)[a-z]*(?:[-_ ]?to)?[-_ ]?)v?(\d+(?:\.\d+){0,2})\.(mdx?|rst|adoc)$`)

// isSuperseded reports whether the path is a page about a version, and two pages beside it are about newer ones.
func (r *ranking) isSuperseded(p string) bool {
	m := ofVersion.FindStringSubmatch(p)
	if m == nil {
		return false
	}
	newer := 0
	for i := range r.repo.Files {
		if p := r.repo.Files[i].Path; strings.HasPrefix(p, m[1]+m[2]) {
			other := ofVersion.FindStringSubmatch(p)
			newer += boolToInt(other != nil && other[1]+other[2] == m[1]+m[2] && semver.Compare("v"+other[3], "v"+m[3]) > 0)
		}
	}
	return newer > 1
}

// isOlder reports whether the path is below a folder such as v3 that has a v4 beside it.
func (r *ranking) isOlder(p string) bool {
	if strings.Contains("/"+p, "/versioned_docs/") {
		return true
	}
	match := versionFolder.FindStringIndex(p)
	if match == nil {
		return false
	}
	above, version, below := p[:match[1]-2], p[match[1]-2], p[match[1]:]
	for n := version + 1; n <= '9'; n++ {
		for _, tail := range []string{"index.ts", "index.js", below} {
			if r.byPath[fmt.Sprintf("%s%c/%s", above, n, tail)] != nil {
				return true
			}
		}
	}
	return false
}
