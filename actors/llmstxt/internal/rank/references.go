package rank

import (
	"maps"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/words"
)

const (
	mostSources  = 2000     // number of sources whose imports and names are read
	sourceHead   = 16 << 10 // bytes of each
	mostDefiners = 4        // number of files that may define a name before it no longer distinguishes them
)

// Uses is what the sources of a repository import, by path. Each file is parsed once, for the ranking and for the
// graph of packages.
type Uses map[string][]string

// text is what was read of a source.
type text struct {
	imports []string
	defines []string
	names   []string // identifiers that other files may define
	aside   string   // why it is not for readers, or ""
}

// readSources collects which sources use each other: by imports, and by names that others define.
func (r *ranking) readSources() {
	list := r.likely(classSource, mostSources, func(p string) int {
		if r.at[p].entry != "" {
			return -100
		}
		return depth(p) - bits.Len64(uint64(r.byPath[p].Size))/2
	}, "sources are larger or nearer to the root")
	texts := make([]text, len(list))
	defined := make(map[string][]*item)
	for i, t := range each(r.survey, len(list), func(v *survey, i int) text { return v.readText(list[i]) }) {
		x := list[i]
		texts[i] = t
		r.specs[x.Path] = t.imports
		if t.aside != "" {
			r.drop(x, t.aside)
			continue
		}
		for _, name := range t.defines {
			if same := defined[name]; len(same) <= mostDefiners && !slices.Contains(same, x) {
				defined[name] = append(same, x)
			}
		}
	}
	out := make(map[*item]int)
	most, mostIn := 0, 0
	for i, x := range list {
		if x.class == classNone {
			continue
		}
		used := r.usedBy(x, texts[i], defined)
		out[x] = len(used)
		most = max(most, len(used))
		for to := range used {
			if !r.isMarked(x) {
				to.imported++
				mostIn = max(mostIn, to.imported)
			}
		}
	}
	for _, x := range list {
		if x.class == classNone {
			continue
		}
		x.addRole(0.95*logShare(out[x], max(most, 8)), "uses "+words.Count(out[x], "file")+" of the repository")
		x.addRole(0.45*logShare(x.imported, max(mostIn, 8)), "used by "+words.Count(x.imported, "file"))
	}
}

// readText reads the beginning of a source.
func (v *survey) readText(x *item) (t text) {
	head := v.head(x.Path, sourceHead)
	f := x.file
	if f.Language == "Go" {
		t.imports = f.Imports
	} else if f.Kind == scan.Source {
		t.imports = source.Imports(f.Language, head)
	}
	if f.Language == "Go" && strings.Contains(head, "//go:build ignore\n") {
		t.aside = "in no package"
		return t
	}
	if source.Of(f.Language).IsTest(head) {
		t.aside = "a test, by its imports"
		return t
	}
	t.names, t.defines = namesIn(head)
	return t
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// Words before a name that a line defines, in most languages.
var (
	modifiers = wordSet("public private protected internal export default async static final abstract pub open override " +
		"data sealed inline unsafe extern local declare partial readonly virtual")
	definers = wordSet("class interface struct enum trait type func function def fn module record object protocol " +
		"defmodule defp sub define macro_rules const let var val typedef")
)

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = isWordByte(byte(c))
	}
	return is
}()

// mostDefined bounds the names that are read from a file.
const mostDefined = 400 // names of a file

// namesIn returns the identifiers of a text, each once, and those of them that its lines define.
func namesIn(text string) (names, defines []string) {
	seen := make(map[string]bool)
	begins, defining := true, false // at the beginning of a line; after a word that defines
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			begins, defining = true, false
		case c == '(' && defining && text[i-1] == ' ': // the receiver of a method
			if end := strings.IndexAny(text[i:], ")\n"); end > 0 && text[i+end] == ')' {
				i += end
			}
		case wordBytes[c]:
			start := i
			for i < len(text) && wordBytes[text[i]] {
				i++
			}
			word := text[start:i]
			i--
			switch {
			case defining:
				if len(word) > 3 && len(defines) < mostDefined {
					defines = append(defines, word)
				}
				if i+1 >= len(text) || text[i+1] != '.' && text[i+1] != ':' {
					defining = false
				}
			case begins && definers[word]:
				begins, defining = false, true
			case begins && !modifiers[word]:
				begins = false
			}
			if len(word) > 3 && word[0] > '9' {
				seen[word] = true
			}
		case c != ' ' && c != '\t' && c != '#' && c != '(' && c != ')':
			begins = false
		}
	}
	return slices.Sorted(maps.Keys(seen)), defines
}

// usedBy returns the files that a source uses. If several files define a name, the imported one is meant, or else
// the one beside the source.
func (r *ranking) usedBy(x *item, t text, defined map[string][]*item) map[*item]bool {
	used := make(map[*item]bool)
	take := func(to *item) {
		if to != nil && to != x && to.class != classNone {
			used[to] = true
		}
	}
	folders := make(map[string]bool)
	for to := range r.imports.Targets(x.file, t.imports) {
		if to.Path == "" {
			continue
		}
		if y := r.at[to.Path]; y != nil {
			take(y)
			continue
		}
		folders[to.Path] = true
	}
	family := source.Family(x.file.Language)
	for _, name := range t.names {
		var found *item
		same := defined[name]
		if len(same) == 0 || len(same) > mostDefiners {
			continue
		}
		for _, y := range same {
			beside := path.Dir(y.Path) == path.Dir(x.Path)
			switch {
			case source.Family(y.file.Language) != family:
			case used[y] || folders[path.Dir(y.Path)]:
				found = y
			case found == nil && (beside || len(same) == 1 && (isDistinctive(name) || strings.Contains(name, "_"))):
				found = y
			}
		}
		take(found)
	}
	if x.file.Kind != scan.Source || r.settings {
		r.usedByPath(x, take)
	}
	return used
}

// usedByPath finds files by the paths in settings.
func (r *ranking) usedByPath(x *item, take func(*item)) {
	dir := path.Dir(x.Path)
	for word := range strings.FieldsFuncSeq(r.head(x.Path, sourceHead), func(c rune) bool { return strings.ContainsRune(" \t\n\"'`()[]{},;=:$<>", c) }) {
		if len(word) < 4 || len(word) > 120 {
			continue
		}
		for _, p := range []string{path.Join(dir, word), path.Clean(word)} {
			if y := r.at[p]; y != nil {
				take(y)
			} else if strings.Contains(word, "/") && r.folders[p] {
				take(r.faceOf(p))
			}
		}
	}
}

// isMarked reports whether words of the path speak against the file. The name of a package does not count.
func (r *ranking) isMarked(x *item) bool {
	dir := path.Dir(x.Path)
	if root := scan.SourceRoot(dir); root != "" {
		dir = root
	} else if x.members != "" && dir != "." {
		dir = path.Dir(dir)
	}
	is, known := r.marks[dir]
	if !known {
		is = marked.MatchString(dir + "/")
		r.marks[dir] = is
	}
	return is
}

// findEntries finds the entry points that manifests name, and files with the usual names of entry points in programs,
// packages and frameworks.
func (r *ranking) findEntries() {
	for _, u := range r.units {
		for p, e := range u.entries {
			if x := r.at[p]; x != nil && x.entry == "" {
				x.entry = e.from
				x.addRole(0.6-min(0.4, 0.06*float64(e.order)), "entry point in "+e.from)
			}
		}
	}
	for _, x := range r.items {
		if x.class != classSource && x.class != classSetting {
			continue
		}
		p := "/" + x.Path
		if m := conventional.FindString(p); m != "" {
			x.add(0.35, "a place that frameworks and tools look at")
		} else if entryStem.MatchString(stemOf(x.Path)) {
			x.add(0.2, "entry point, by its name")
		}
	}
}

var (
	entryStem    = lazyregexp.New(`^(index|main|lib|mod|__init__|__main__|init|app|cli|server|client|core|api|model|train|program|startup)$`)
	conventional = lazyregexp.New(`(?i)/(routes?(/\w+|\.\w+)?\.(php|rb|ts|js|py)|urls\.py|settings(/base)?\.py|router(/index)?\.\w+|schema\.(prisma|sql|graphql|rb)|` +
		`openapi\.(ya?ml|json)|\w+\.proto|androidmanifest\.xml|(app|main)(delegate|activity|view)?\.(swift|kt|java|tsx|jsx|vue|svelte|dart)|` +
		`application(\.\w+)?\.(properties|ya?ml|rb|ex)|(data)?base\.(py|rb|kt)|models?\.py|views\.py|admin\.py|tasks\.py|` +
		`(app|pages)/(.*/)?(page|layout|route|_app|index)\.[jt]sx?|program\.cs|startup\.cs|appsettings\.json|` +
		`(controllers?|models|entities|screens|views|handlers|stores?|services)/[^/]+\.\w+|\w+(controller|viewmodel|repository|service|dbcontext)\.\w+|` +
		`tasks/main\.ya?ml|defaults/main\.ya?ml|meta/main\.ya?ml|site\.ya?ml|playbooks?/[^/]+\.ya?ml|values\.yaml|chart\.yaml|` +
		`(main|variables|outputs|versions)\.tf|docker-compose[\w.]*\.ya?ml|compose\.ya?ml|dockerfile|makefile|justfile|taskfile\.ya?ml|procfile)$`)
)
