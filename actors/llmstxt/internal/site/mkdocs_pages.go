package site

import (
	"path"
	"slices"
	"strings"
)

// arrangement is the order of a folder as the plugins awesome-pages and awesome-nav read it.
type arrangement struct {
	*mkdocs
	dir   string
	names []string // in the folder; those of folders end with a slash
	named map[string]bool
}

// settings returns the file of a folder that says its title and order.
func (m *mkdocs) settings(dir string) front {
	dir = within(m.dir, dir)
	return mapOf(readYAML(m.Text(m.first(path.Join(dir, ".pages"), path.Join(dir, ".nav.yml")))))
}

func (a *arrangement) nodes() (nodes []*Node) {
	settings := a.settings(a.dir)
	if settings.text("order") == "desc" {
		slices.Reverse(a.names)
	}
	nav := listOf(settings["nav"])
	if nav == nil {
		nav = listOf(settings["arrange"])
	}
	if nav == nil {
		nav = []any{"..."}
	}
	a.mark(nav)
	return a.list(nav)
}

// mark remembers what a list names, so that "..." leaves it out.
func (a *arrangement) mark(list []any) {
	for _, item := range list {
		_, value := entry(item)
		a.mark(listOf(value))
		for _, name := range a.matching(textOf(value)) {
			a.named[name] = true
		}
	}
}

// matching returns the names that an entry names. An entry "..." names none.
func (a *arrangement) matching(entry string) []string {
	if entry == "" || strings.HasPrefix(entry, "...") {
		return nil
	}
	re := glob(strings.TrimSuffix(entry, "/"))
	return slices.DeleteFunc(slices.Clone(a.names), func(name string) bool {
		return !re.MatchString(strings.TrimSuffix(name, "/"))
	})
}

func (a *arrangement) list(list []any) (nodes []*Node) {
	for _, item := range list {
		label, value := entry(item)
		if children := listOf(value); children != nil {
			nodes = join(nodes, group(label, a.list(children)))
			continue
		}
		names := a.matching(textOf(value))
		if strings.HasPrefix(textOf(value), "...") {
			names = slices.DeleteFunc(slices.Clone(a.names), func(name string) bool { return a.named[name] })
		}
		for _, name := range names {
			nodes = join(nodes, a.place(label, name))
		}
	}
	return nodes
}

// place returns the Node of a name in the folder.
func (a *arrangement) place(label, name string) *Node {
	p := path.Join(a.dir, name)
	if !strings.HasSuffix(name, "/") {
		return a.pageAt(p, label)
	}
	settings := a.settings(p)
	if settings.flag("hide") {
		return nil
	}
	if label == "" {
		label = settings.text("title")
	}
	if label == "" {
		label = readable(path.Base(p))
	}
	return group(label, a.section(p))
}
