package rank

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// documents gives the pages that teach, and those that a reader short of room
// can do without. The README leads.
func (b *builder) documents() (docs, optional []Link) {
	var guides, formal []string
	for _, f := range b.repo.Files {
		switch {
		case f.Kind != scan.Document || f.Place != scan.Product || f.Size == 0:
		case f.Path == b.readme.path:
		case licenceName(path.Base(f.Path)) && depth(f.Path) > 0: // of something taken over
		case isFormal(f.Path):
			formal = append(formal, f.Path)
		case isPage(f.Path) && !isTranslation(f.Path, b.paths):
			guides = append(guides, f.Path)
		}
	}
	slices.SortFunc(guides, compareBy(guideRank))
	slices.SortFunc(formal, compareBy(formalRank))
	if b.readme.path != "" {
		docs = append(docs, b.link(b.readme.path))
	}
	for _, p := range guides {
		docs = append(docs, b.link(p))
	}
	for _, p := range formal {
		optional = append(optional, b.link(p))
	}
	return docs, optional
}

// compareBy orders paths by rank, then by depth, then by name.
func compareBy(rank func(string) int) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(depth(a), depth(b)), strings.Compare(a, b))
	}
}

func depth(p string) int { return strings.Count(p, "/") }

// guideRank puts what a newcomer reads first in front. A page within the
// documentation comes before the README of some folder.
func guideRank(p string) int {
	stem := stemOf(p)
	home := isDocHome(p)
	for i, words := range [][]string{
		{"getting-started", "getting_started", "gettingstarted", "quickstart", "quick-start", "quick_start"},
		{"introduction", "intro", "overview", "tutorial"},
		{"install", "installation", "setup"},
		{"concepts", "core-concepts", "architecture", "design", "guide", "usage"},
	} {
		if slices.Contains(words, stem) {
			return 1 + i
		}
	}
	switch {
	case home && (stem == "index" || stem == "basics"):
		return 5
	case strings.HasPrefix(stem, "advanced"), strings.Contains("/"+p, "/internal/"):
		return 9
	case home:
		return 6
	case stem == "readme":
		return 8
	}
	return 7
}

func isDocHome(p string) bool {
	top, _, _ := strings.Cut(strings.ToLower(p), "/")
	switch top {
	case "doc", "docs", "documentation", "manual", "guide", "guides", "book":
		return true
	}
	return strings.Contains("/"+strings.ToLower(path.Dir(p))+"/", "/docs/") || depth(p) == 0
}

func stemOf(p string) string {
	base := strings.ToLower(path.Base(p))
	stem, _, _ := strings.Cut(base, ".")
	return stem
}

// isFormal tells pages about the project from pages about what it makes.
func isFormal(p string) bool { return formalRank(p) < len(formalPages()) }

func formalRank(p string) int {
	stem := strings.NewReplacer("-", "_", " ", "_").Replace(stemOf(p))
	if i := slices.Index(formalPages(), stem); i >= 0 {
		return i
	}
	return len(formalPages())
}

func formalPages() []string {
	return []string{"agents", "claude", "contributing", "hacking", "development", "changelog", "changes", "history", "news", "releases",
		"upgrading", "migration", "roadmap", "security", "support", "governance", "maintainers", "code_of_conduct", "license", "licence",
		"copying", "notice", "authors", "contributors", "patents", "todo"}
}

// isTranslation recognises README.de.md and docs/guide.zh-CN.md beside the page
// they translate.
func isTranslation(p string, paths map[string]bool) bool {
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	for _, cut := range []string{".", "_", "-"} {
		i := strings.LastIndex(stem, cut)
		if tag := stem[i+1:]; i > 0 && (len(tag) == 2 || len(tag) == 5 && (tag[2] == '-' || tag[2] == '_')) && paths[stem[:i]+ext] {
			return true
		}
	}
	if i := strings.LastIndexByte(stem, '-'); i > 3 && paths[stem[:i-3]+ext] && (stem[i-3] == '.' || stem[i-3] == '_') {
		return true
	}
	return false
}
