package rank

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
)

// maxShown is how many steps what an entrance shows may be away from it.
const maxShown = 3

var entrances, sourceExts = words.Of("entrances"), words.Of("source files")

// countImports counts for each file how many others import it, or name its class where a package needs no imports
// within itself.
func countImports(r resolver, list []*sourceFile) {
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
		for _, spec := range from.specs {
			use(r.find(from, spec))
		}
		if source.Of(from.file.Language).Classes || namesFiles(from.file.Language) {
			for w := range telling(from.head) {
				use(r.byWord[w])
			}
		}
		from.head = ""
	}
}

// follow marks what the first entry point exports by "export * from".
func follow(r resolver, list []*sourceFile) {
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
			for _, spec := range s.exports {
				if to := r.find(s, spec); to != nil && to.shown == 0 && !to.exposed {
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

// telling gives the identifiers of a text that are hardly words of some sentence.
func telling(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !prose.IsIdent(r) }) {
			if isTelling(w) && !yield(w) {
				return
			}
		}
	}
}

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
func (j *sourceJudge) countUsers(r resolver) {
	for name, s := range r.byWord {
		s.pages = j.written[name]
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
			from := &sourceFile{file: &f, candidate: candidate{Link: Link{Path: f.Path}}}
			for _, spec := range source.Imports(f.Language, text) {
				use(r.find(from, spec))
			}
		}
		for w := range telling(text) {
			use(r.byWord[w])
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

// resolver finds the file that a spec means among those that were looked at.
type resolver struct {
	byPath  map[string]*sourceFile // without extension
	byStem  map[string][]*sourceFile
	byWord  map[string]*sourceFile // by the name of the type that it, and no other so near to the root, is there for
	byTitle map[string]*sourceFile // entrances of packages of the repository
}

func (j *sourceJudge) newResolver(list []*sourceFile) resolver {
	r := resolver{byPath: make(map[string]*sourceFile), byStem: make(map[string][]*sourceFile),
		byWord: make(map[string]*sourceFile), byTitle: make(map[string]*sourceFile)}
	words := make(map[string][]*sourceFile)
	for _, s := range list {
		if s.entry != "" && s.order == 0 {
			r.byTitle[j.unitOf(s.Path).about.Name] = s
		}
		if s.aside == "" && !isPrivatePlace(s.Path) {
			words[s.name()] = append(words[s.name()], s)
		}
		for _, p := range importPaths(s.Path) {
			if r.byPath[p] == nil {
				r.byPath[p] = s
			}
			r.byStem[path.Base(p)] = append(r.byStem[path.Base(p)], s)
		}
	}
	for word, same := range words {
		slices.SortStableFunc(same, func(x, y *sourceFile) int { return depth(x.Path) - depth(y.Path) })
		if len(same) == 1 || depth(same[0].Path) < depth(same[1].Path) {
			r.byWord[word] = same[0]
		}
	}
	return r
}

// importPaths are the paths by which a file may be imported.
func importPaths(p string) []string {
	stem := strings.TrimSuffix(strings.TrimSuffix(p, path.Ext(p)), ".d")
	if entrances.Has(path.Base(stem)) {
		return []string{stem, path.Dir(stem)}
	}
	return []string{stem}
}

// find wants the whole of the spec in the path, or all but the first part of it; a single word only beside the
// importing file.
func (r resolver) find(from *sourceFile, spec string) *sourceFile {
	spec = strings.TrimSpace(spec)
	if spec == "" || spec == "." || spec == "./" || strings.Contains(spec, ":") {
		return nil
	}
	bare := spec
	if sourceExts.Has(path.Ext(spec)) {
		bare = strings.TrimSuffix(spec, path.Ext(spec))
	}
	if s := cmp.Or(r.byPath[path.Join(path.Dir(from.Path), bare)], r.byTitle[spec]); s != nil {
		return s
	}
	if above, _, ok := strings.Cut("/"+from.Path, "/src/"); ok && from.file.Language == "Rust" {
		if s := r.byPath[strings.TrimPrefix(above+"/src/"+bare, "/")]; s != nil {
			return s // crate::routing
		}
	}
	switch {
	case strings.HasPrefix(spec, "."):
		return nil
	case !strings.Contains(bare, "/"):
		// A header by its mere name is found on the compiler's path.
		if same := r.byStem[bare]; bare != spec && len(same) == 1 {
			return same[0]
		}
		return nil
	}
	var best *sourceFile
	_, tail, _ := strings.Cut(bare, "/")
	for _, want := range []string{bare, tail} {
		for _, s := range r.byStem[path.Base(want)] {
			ends := func(p string) bool { return strings.HasSuffix("/"+p, "/"+want) }
			if slices.ContainsFunc(importPaths(s.Path), ends) && (best == nil || len(s.Path) < len(best.Path)) {
				best = s
			}
		}
		if best != nil || !strings.Contains(tail, "/") {
			break
		}
	}
	return best
}
