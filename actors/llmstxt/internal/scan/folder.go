package scan

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/ignore"
	"github.com/seed889630bf/lastword/internal/confined"
)

// folder is a folder on the current path of the walk.
type folder struct {
	files    fs.FS
	base     string // path within files; "" for their top
	path     string // path in the repository; "" for the top
	depth    int
	place    Place
	docs     bool          // it is a folder for documents, or below one
	git, own *ignore.Rules // rules of .gitignore and of .lastwordignore
	marks    marks         // attributes of .gitattributes
}

// top returns the top folder, with the repository's private ignore file applied. Ignore files above the material, and
// the user's own, are out of reach.
func top(files fs.FS, rules *ignore.Rules) *folder {
	d := &folder{files: files, git: rules, own: rules, marks: marks{rules, rules}}
	const private = ".git/info/exclude"
	if info, err := fs.Stat(files, private); err == nil && info.Mode().IsRegular() { // opening a pipe would block
		d.git = d.git.With("", d.read(private))
	}
	return d
}

// to returns the path in the repository of an entry of the folder.
func (d *folder) to(name string) string { return path.Join(d.path, name) }

// in returns the path in d.files of an entry of the folder.
func (d *folder) in(name string) string { return path.Join(d.base, name) }

// enter opens a folder below. done releases it.
func (d *folder) enter(name string) (sub *folder, done func(), err error) {
	sub = &folder{
		files: d.files, base: d.in(name), path: d.to(name), depth: d.depth + 1,
		place: placeBelow(d.place, d.docs, d.to(name)), docs: d.docs || is("document folder", strings.ToLower(name)),
		git: d.git, own: d.own, marks: d.marks,
	}
	r, ok := d.files.(confined.Tree)
	if !ok {
		return sub, func() {}, nil
	}
	root, err := confined.Folder(r.Root, sub.base)
	if err != nil {
		return nil, nil, err
	}
	sub.files, sub.base = confined.TreeOf(root), ""
	return sub, func() { root.Close() }, nil
}

// applyRules reads the rule files in the folder.
func (d *folder) applyRules(entries []entry) {
	if has(entries, ".gitignore") {
		d.git = d.git.With(d.path, d.read(".gitignore"))
	}
	if has(entries, ".gitattributes") {
		d.marks = d.marks.with(d.path, d.read(".gitattributes"))
	}
	if has(entries, ".lastwordignore") {
		d.own = d.own.With(d.path, d.read(".lastwordignore"))
	}
}

// ignoreBytes bounds a rule file; the rest is ignored.
const ignoreBytes = 256 << 10

// read returns the text of a rule file, or "" if none can be read.
func (d *folder) read(name string) string {
	f, info, err := confined.Regular(d.files, d.in(name))
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, min(max(info.Size(), 0), ignoreBytes))
	n, err := readUpTo(f, text)
	if err != nil {
		return ""
	}
	return string(text[:n])
}

// has reports whether the sorted entries include a regular file with the name.
func has(entries []entry, name string) bool {
	i, ok := slices.BinarySearchFunc(entries, name, func(e entry, name string) int {
		return strings.Compare(e.name, name)
	})
	return ok && entries[i].mode.IsRegular()
}

// marks are the attributes of files in .gitattributes, as hosting sites interpret them.
type marks struct {
	generated, vendored *ignore.Rules
}

func (m marks) with(folder, text string) marks {
	return marks{
		generated: m.generated.With(folder, marked(text, "linguist-generated")),
		vendored:  m.vendored.With(folder, marked(text, "linguist-vendored")),
	}
}

// marked turns the lines that set or unset the attribute into an ignore file.
func marked(text, attribute string) string {
	var list []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.ContainsAny(words[0][:1], `#!"[`) {
			continue
		}
		switch set := words[1:]; {
		case slices.Contains(set, attribute), slices.Contains(set, attribute+"=true"):
			list = append(list, words[0])
		case slices.Contains(set, "-"+attribute), slices.Contains(set, attribute+"=false"):
			list = append(list, "!"+words[0])
		}
	}
	return strings.Join(list, "\n")
}
