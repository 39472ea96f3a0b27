package main

import (
	"cmp"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
)

// ruleTarget is beside those of the format: a relative link leads to something that is there.
const ruleTarget check.Rule = "link-target"

// linksOf are all sections' links, in the order of the text.
func linksOf(doc *check.Document) (links []check.Link) {
	for _, section := range doc.Sections {
		links = append(links, section.Links...)
	}
	return links
}

// targets checks that relative links lead somewhere; what lies on no folder of this machine is taken at its word.
func (c *checking) targets(f *checkedFile, folder string, links []check.Link) error {
	roots, err := c.roots(folder)
	defer closeAll(roots)
	if err != nil {
		return err
	}
	for _, l := range links {
		if name, relative := target(l.URL); relative && len(roots) > 0 && !leads(roots, name) {
			f.problem(l.Line, ruleTarget, check.Error, "the link %q leads to nothing that is there", l.URL)
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
