package rank

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/prose"
)

// titleRunes is the longest heading that is still a name.
const titleRunes = 60

// title is the README's own, else the repository's name, else the package's,
// else the folder's.
func (b *builder) title() string {
	if t := b.readme.title; t != "" && utf8.RuneCountInString(t) <= titleRunes && !isNoName(t) {
		return t
	}
	name := b.repo.Origin.Repo
	if b.repo.Origin.Prefix != "" {
		name = path.Base(b.repo.Origin.Prefix)
	}
	return firstOf(name, moduleName(b.manifest.name), b.repo.Name)
}

func isNoName(title string) bool {
	low := strings.ToLower(title)
	return low == "readme" || low == "read me" || low == "introduction" || low == "overview" || low == "table of contents"
}

// moduleName is the last element of a module path that is not a version.
func moduleName(module string) string {
	base := path.Base(module)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(module))
	}
	if base == "." || base == "/" {
		return ""
	}
	return base
}

// summary is what the repository says it is for, and where it says so.
func (b *builder) summary() (text, from string) {
	if b.readme.lead != "" {
		return prose.Opening(b.readme.lead), b.readme.path
	}
	if len(b.readme.prose) > 0 {
		return prose.Opening(b.readme.prose[0]), b.readme.path
	}
	if d := b.manifest.description; d != "" {
		return prose.Opening(d), b.manifest.path
	}
	return b.golang.purpose(b)
}

// facts are lines that hold for this commit and can be checked.
func (b *builder) facts() []Fact {
	m := b.manifest
	facts := []Fact{
		{m.label(), m.name},
		{"Version", m.version},
		{"Requires", m.requires},
		{"Languages", b.languages()},
		{"Licence", firstOf(m.licence, b.licence())},
		{"Repository", b.repo.Origin.Remote},
		{"Folder", b.repo.Origin.Prefix},
		{"Commit", b.repo.Origin.Commit},
	}
	var known []Fact
	for _, f := range facts {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}
