package rank

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
)

// resolver finds the file that a spec means among those that were looked at.
type resolver struct {
	byPath map[string]*sourceFile // without extension
	byStem map[string][]*sourceFile
}

func newResolver(list []*sourceFile) resolver {
	r := resolver{byPath: make(map[string]*sourceFile), byStem: make(map[string][]*sourceFile)}
	for _, s := range list {
		for _, p := range importPaths(s.Path) {
			if r.byPath[p] == nil {
				r.byPath[p] = s
			}
			r.byStem[path.Base(p)] = append(r.byStem[path.Base(p)], s)
		}
	}
	return r
}

// importPaths are the paths by which a file may be imported.
func importPaths(p string) []string {
	stem := strings.TrimSuffix(strings.TrimSuffix(p, path.Ext(p)), ".d")
	switch path.Base(stem) {
	case "index", "__init__", "mod", "lib":
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
	if isSourceExt(path.Ext(spec)) {
		bare = strings.TrimSuffix(spec, path.Ext(spec))
	}
	dir := path.Dir(from.Path)
	if s := r.byPath[path.Join(dir, bare)]; s != nil {
		return s
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
	_, tail, _ := strings.Cut(bare, "/")
	for _, want := range []string{bare, tail} {
		var best *sourceFile
		for _, s := range r.byStem[path.Base(want)] {
			for _, p := range importPaths(s.Path) {
				if strings.Contains(want, "/") && strings.HasSuffix("/"+p, "/"+want) && (best == nil ||
					len(s.Path) < len(best.Path)) {
					best = s
				}
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

func isSourceExt(ext string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte",
		".h", ".hpp", ".hh", ".c", ".cc", ".cpp", ".rb", ".py", ".dart", ".zig", ".php"}, ext)
}

// hasReexports tells the languages whose names are public by what exports them.
func hasReexports(f *scan.File) bool {
	return f != nil && source.Of(f.Language).Reexports != nil
}
