package main

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/transport/git"
)

// Rules beside those of the format.
const (
	ruleTarget check.Rule = "link-target" // a relative link leads to something that is there
	rulePinned check.Rule = "pinned"      // --stale: the links are pinned to a commit
	ruleStale  check.Rule = "stale"       // --stale: the repository is at that commit
)

// placedLink is a link with its line, from 1.
type placedLink struct {
	url  string
	line int
}

// placed finds the lines of the links: they are in the order of the text, and a URL stands there as it is.
func placed(doc *check.Document, text string) (links []placedLink) {
	lines := strings.Split(text, "\n")
	at := 0
	for _, section := range doc.Sections {
		for _, l := range section.Links {
			for at < len(lines) && !strings.Contains(lines[at], "]("+l.URL+")") {
				at++
			}
			at++
			links = append(links, placedLink{l.URL, min(at, len(lines))})
		}
	}
	return links
}

// targets checks that relative links lead somewhere; what lies on no folder of this machine is taken at its word.
func (c *checking) targets(f *checkedFile, folder string, links []placedLink) error {
	roots, err := c.roots(folder)
	defer closeAll(roots)
	if err != nil {
		return err
	}
	for _, l := range links {
		if name, relative := target(l.url); relative && len(roots) > 0 && !leads(roots, name) {
			f.problem(l.line, ruleTarget, check.Error, "the link %q leads to nothing that is there", l.url)
		}
	}
	return nil
}

func (c *checking) roots(folder string) (roots []*os.Root, err error) {
	for _, dir := range []string{folder, c.repository} {
		if dir == "" {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return roots, invalid("cannot read the folder %s: %v", dir, reason(err))
		}
		roots = append(roots, root)
	}
	return roots, nil
}

func closeAll(roots []*os.Root) {
	for _, r := range roots {
		r.Close()
	}
}

// target is the path of a relative link; one to a place in the file itself leads to ".".
func target(link string) (name string, relative bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "", false
	}
	return cmp.Or(strings.TrimPrefix(path.Clean(u.Path), "/"), "."), true
}

// leads asks through the roots, which nothing leads out of.
func leads(roots []*os.Root, name string) bool {
	return slices.ContainsFunc(roots, func(r *os.Root) bool {
		_, err := r.Stat(filepath.FromSlash(name))
		return err == nil
	})
}

// pinned compares the commit that most links name with the one that the repository is at.
func (c *checking) pinned(f *checkedFile, folder string, links []placedLink) error {
	line := 0
	if f.Commit, line = commitOf(links); f.Commit == "" {
		f.problem(1, rulePinned, check.Error, "no link is pinned to a commit, so nobody can tell whether the file is stale")
		return nil
	}
	where := cmp.Or(c.repository, folder)
	if where == "" {
		return invalid("--stale needs the folder of the repository: --repository <folder>")
	}
	origin, err := git.Read(where)
	switch {
	case err != nil:
		return invalid("--stale: %v", err)
	case origin.Commit == "":
		return invalid("--stale: %s is not part of a commit; name the folder of the repository with --repository", where)
	}
	f.Head, f.Stale = origin.Commit, origin.Commit != f.Commit
	if f.Stale {
		f.problem(line, ruleStale, check.Warning, "the links are pinned to %s, the repository is at %s", f.Commit, f.Head)
	}
	return nil
}

// commitOf is the commit that most links are pinned to, with the line of the first; the first of several as frequent.
func commitOf(links []placedLink) (commit string, line int) {
	named, first := map[string]int{}, map[string]int{}
	for _, l := range links {
		if c := commitIn(l.url); c != "" {
			named[c]++
			first[c] = cmp.Or(first[c], l.line)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(named)) {
		if named[c] > named[commit] || named[c] == named[commit] && first[c] < first[commit] {
			commit = c
		}
	}
	return commit, first[commit]
}

// commitIn is the first segment of the path that is a whole commit id, SHA-1 or SHA-256.
func commitIn(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if n := len(segment); (n == 40 || n == 64) && strings.Trim(segment, "0123456789abcdef") == "" {
			return segment
		}
	}
	return ""
}
