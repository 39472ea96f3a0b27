package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/resolve"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
)

// maxShown is how many steps what an entrance shows may be away from it.
const maxShown = 3

var entrances = words.Of("entrances")

// countImports counts for each file how many others import it, or name its class where a package needs no imports
// within itself.
func countImports(n names, list []*sourceFile) {
	for _, from := range list {
		seen := map[*sourceFile]bool{from: true, nil: true}
		use := func(to *sourceFile) {
			if seen[to] || from.aside != "" {
				return
			}
			seen[to] = true
			to.importers++
			to.byEntry = to.byEntry || from.entry != ""
		}
		for to := range n.imports.Targets(from.file, from.specs) {
			use(n.file(to))
		}
		if source.Of(from.file.Language).Classes || namesFiles(from.file.Language) {
			for _, w := range telling(from.head, from.file.Language) {
				use(n.byWord[w])
			}
		}
		from.head = ""
	}
}

// follow marks what the first entry point exports by "export * from".
func follow(n names, list []*sourceFile) {
	var shown []*sourceFile
	for _, s := range list {
		if s.entry != "" && s.order == 0 {
			s.exposed = true
			shown = append(shown, s)
		}
	}
	for step := 1; step <= maxShown; step++ {
		var next []*sourceFile
		for _, s := range shown {
			for t := range n.imports.Targets(s.file, s.exports) {
				if to := n.file(t); to != nil && to.shown == 0 && !to.exposed {
					to.shown = step
					next = append(next, to)
				}
			}
		}
		shown = next
	}
}

// namesFiles holds for languages whose files are called like the class in them, in small letters.
func namesFiles(language string) bool { return language == "Ruby" || language == "Elixir" }

// telling gives the identifiers of a text that are hardly words of some sentence, and the initials that name a class
// where files are called like it: Grape::API of api.rb.
func telling(text, language string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !prose.IsIdent(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return !isTelling(w) })
	if namesFiles(language) {
		for _, m := range qualifiedInitials.FindAllStringSubmatch(text, -1) {
			words = append(words, m[1])
		}
	}
	return words
}

var qualifiedInitials = regexp.MustCompile(`\w(?:::|\.)([A-Z]{3,4})\b`)

func isInitials(w string) bool { return len(w) > 2 && len(w) < 5 && w == strings.ToUpper(w) }

// name is that of the type which the file is there for, as far as its own name tells: GenServer of gen_server.ex.
func (s *sourceFile) name() string {
	stem, _, _ := strings.Cut(path.Base(s.Path), ".")
	if isTelling(stem) {
		return stem
	}
	return wordStart.ReplaceAllStringFunc(stem, func(s string) string {
		return strings.ToUpper(strings.TrimLeft(s, "_-"))
	})
}

var wordStart = regexp.MustCompile(`(^[_-]*|[_-]+).?`)

const (
	mostUsers = 120      // tests and examples that are read
	userBytes = 16 << 10 // of each
)

// countUsers counts the pages, tests and examples that name what a file, and no other, is called after.
func (j *sourceJudge) countUsers(n names) {
	for name, s := range n.byWord {
		s.pages += j.written[name]
	}
	left := mostUsers
	for _, f := range j.repo.Files {
		if f.Kind != scan.Source || f.Place != scan.Test && f.Place != scan.Example || f.Language == "Go" ||
			j.mix.bytes[f.Language] == 0 || left == 0 {
			continue
		}
		left--
		text := j.head(f.Path, userBytes)
		seen := map[*sourceFile]bool{nil: true}
		use := func(s *sourceFile) {
			if !seen[s] {
				seen[s] = true
				s.users++
			}
		}
		if source.Of(f.Language).Classes { // elsewhere tests import what is inside
			for to := range n.imports.Targets(&f, source.Imports(f.Language, text)) {
				use(n.file(to))
			}
		}
		for _, w := range telling(text, f.Language) {
			use(n.byWord[w])
		}
	}
}

// setVariantsAside leaves one of the files that hold the same package and name for several platforms.
func setVariantsAside(list []*sourceFile) {
	first := make(map[string]*sourceFile)
	for _, s := range list {
		root := scan.SourceRoot(path.Dir(s.Path))
		above, below, ok := strings.Cut(root, "/src/")
		if !ok || s.aside != "" {
			continue
		}
		key := above + strings.TrimPrefix(s.Path, root)
		other := first[key]
		switch {
		case other == nil:
			first[key] = s
		case strings.HasPrefix(below, "common"):
			other.aside = "another platform's part of " + s.Path
			first[key] = s
		default:
			s.aside = "another platform's part of " + other.Path
		}
	}
}

// names leads from what code says to the files that were looked at.
type names struct {
	imports *resolve.Resolver
	byPath  map[string]*sourceFile
	byUnit  map[string]*sourceFile // entrances of packages of the repository, by their folders
	byWord  map[string]*sourceFile // by the name of the type that it, and no other so near to the root, is there for
}

func (j *sourceJudge) newNames(list []*sourceFile) names {
	n := names{j.imports, make(map[string]*sourceFile), make(map[string]*sourceFile), make(map[string]*sourceFile)}
	words := make(map[string][]*sourceFile)
	for _, s := range list {
		n.byPath[s.Path] = s
		if s.entry != "" && s.order == 0 {
			n.byUnit[j.unitOf(s.Path).dir] = s
		}
		if s.aside == "" && !isPrivatePlace(s.Path) {
			words[s.name()] = append(words[s.name()], s)
			if initials := strings.ToUpper(s.name()); namesFiles(s.file.Language) && isInitials(initials) {
				words[initials] = append(words[initials], s)
			}
		}
	}
	for word, same := range words {
		slices.SortStableFunc(same, func(x, y *sourceFile) int { return depth(x.Path) - depth(y.Path) })
		if len(same) == 1 || depth(same[0].Path) < depth(same[1].Path) {
			n.byWord[word] = same[0]
		}
	}
	return n
}

// file is nil for what was not looked at.
func (n names) file(t resolve.Target) *sourceFile { return cmp.Or(n.byPath[t.Path], n.byUnit[t.Path]) }
