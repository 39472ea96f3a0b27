package kind

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// Tree is what the finders look at.
type Tree struct {
	Files   []scan.File
	Library bool                                      // the root is a package that others install
	Read    func(path string, most int64) string      // the head of a file
	Targets func(path, text string) (linked []string) // local paths that a page links to
}

// Link is a file that readers of the kind want, in its section.
type Link struct {
	Path, Section string
	Title, Note   string // "" where the file's own will do
	Reason        string
}

// Found is what makes a repository of one kind.
type Found struct {
	Kind  string
	Links []Link   // in the order in which they are read
	Aside []string // paths that are nothing for readers
	Why   string   // they are not
}

func (f *Found) add(section, p, note, reason string) {
	f.Links = append(f.Links, Link{Path: p, Section: section, Note: note, Reason: reason})
}

// Find runs all finders.
func Find(t Tree) []Found {
	var all []Found
	for _, k := range []struct {
		name string
		find func(Tree) Found
	}{{"a book", books}, {"notebooks", notebooks}, {"Helm charts", charts}, {"an Ansible collection", roles},
		{"a Terraform module", modules}, {"a documentation site", site}, {"infrastructure", cluster},
		{"an application", application}} {
		if found := k.find(t); len(found.Links)+len(found.Aside) > 0 {
			found.Kind = k.name
			all = append(all, found)
		}
	}
	return all
}

// named gives the files of the product with one of the names.
func (t Tree) named(names ...string) []string {
	return t.matching(func(p string) bool { return slices.Contains(names, path.Base(p)) })
}

// matching gives the files of the product that the test takes, by depth and then by name.
func (t Tree) matching(takes func(p string) bool) []string {
	var list []string
	for _, f := range t.Files {
		if f.Place == scan.Product && f.Size > 0 && takes(f.Path) {
			list = append(list, f.Path)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), natural(a, b))
	})
	return list
}

// below gives all files of the folder, whatever they are there for.
func (t Tree) below(dir string) []string {
	var list []string
	for _, f := range t.Files {
		if dir == "." || strings.HasPrefix(f.Path, dir+"/") {
			list = append(list, f.Path)
		}
	}
	return list
}

func (t Tree) has(p string) bool {
	return slices.ContainsFunc(t.Files, func(f scan.File) bool { return f.Path == p && f.Size > 0 })
}

var number = regexp.MustCompile(`\d+`)

// natural compares as people do, who write "chapter 2" before "chapter 10".
func natural(a, b string) int {
	pad := func(digits string) string { return fmt.Sprintf("%012s", strings.TrimLeft(digits, "0")) }
	return strings.Compare(number.ReplaceAllStringFunc(a, pad), number.ReplaceAllStringFunc(b, pad))
}

func nameOf(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }

// hasSegment tells whether one of the folders above the file is called so.
func hasSegment(p string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(path.Dir(p)), "/"), func(part string) bool {
		return slices.Contains(names, part)
	})
}
