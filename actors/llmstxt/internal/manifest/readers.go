package manifest

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"

	"github.com/seed889630bf/lastword/internal/packed"
)

// readersText is the table of readers, and explains its own form.
//
//go:embed readers.txt.gz
var readersText string

// reader reads manifests of one name.
type reader struct {
	ecosystem string
	read      func(f *file, text string) error
	rules     map[string]rule // by field
}

// rule says where a field is found.
type rule struct {
	word   string // the required language, or the pattern of dependencies
	places []string
}

var readers = sync.OnceValue(func() map[string]*reader {
	all := make(map[string]*reader)
	var r *reader
	for l := range strings.Lines(string(packed.Text(readersText))) {
		head, rest, ok := strings.Cut(l, ": ")
		words := strings.Fields(rest)
		switch {
		case !ok || l[0] == '#':
		case l[0] == '\t':
			field, word, _ := strings.Cut(strings.TrimSpace(head), " ")
			r.rules[field] = rule{word, append(r.rules[field].places, words...)}
		default:
			r = &reader{words[0], formats[words[1]], make(map[string]rule)}
			for name := range strings.FieldsSeq(head) {
				all[strings.TrimPrefix(name, "*")] = r
			}
		}
	}
	return all
})

// readerOf returns the reader for a file, or nil if it is not a manifest.
func readerOf(name string) *reader {
	base := path.Base(name)
	if r := readers()[base]; r != nil {
		return r
	}
	if strings.HasSuffix(base, ".app.src") {
		return readers()[".app.src"]
	}
	return readers()[strings.ToLower(path.Ext(base))]
}

// file is a manifest that is being read.
type file struct {
	Manifest
	rules map[string]rule
}

var formats = map[string]func(f *file, text string) error{
	"json": readTree(parseJSON), "toml": readTree(parseTOML), "yaml": readTree(parseYAML), "xml": readTree(parseXML),
	"gomod": readGoMod, "gowork": readGoWork, "cargo": readCargo, "setupcfg": readSetupCfg, "pom": readPOM, "gradle": readGradle,
	"settings": readGradleSettings, "msbuild": readMSBuild, "program": readProgram,
	"cabal": readCabal, "description": readDescription,
}

// fill sets the single-text fields that are not set yet. value returns the text at a place.
func (f *file) fill(value func(place string) string) {
	fields := map[string]*string{"name": &f.Name, "version": &f.Version, "description": &f.Description,
		"homepage": &f.Homepage, "repository": &f.Repository, "license": &f.License}
	for name, field := range fields {
		if _, ok := f.rules[name]; !ok && *field == "" {
			*field = value(name)
		}
	}
	fields["requires"], fields["commit"], fields["directory"] = &f.Requires, &f.Commit, &f.Directory
	for name, field := range fields {
		r := f.rules[name]
		for _, place := range r.places {
			if v := valueAt(place, value); *field == "" && v != "" {
				*field = strings.TrimSpace(r.word + " " + v)
			}
		}
	}
}

// valueAt replaces each ${place} by its value; the result is empty if one is missing.
func valueAt(place string, value func(string) string) string {
	if !strings.Contains(place, "$") {
		return value(place)
	}
	complete := true
	s := os.Expand(place, func(part string) string {
		v := value(part)
		complete = complete && v != ""
		return v
	})
	if !complete {
		return ""
	}
	return s
}

// tree reads a file whose values are in mappings.
func (f *file) tree(parse func(string) (object, error), text string) (object, error) {
	o, err := parse(text)
	f.fill(o.text)
	f.lists(o)
	return o, err
}

// readTree reads files that the rules describe completely.
func readTree(parse func(string) (object, error)) func(*file, string) error {
	return func(f *file, text string) error {
		_, err := f.tree(parse, text)
		return err
	}
}

// lists adds the file's values to the fields that are lists.
func (f *file) lists(o object) {
	for field, r := range f.rules {
		for _, place := range r.places {
			place, wanted, _ := strings.Cut(place, "=")
			keys := strings.TrimLeft(place, "!")
			for _, v := range o.at(keys) {
				switch field {
				case "dependencies":
					f.depends(v, r.word)
				case "members":
					for _, pattern := range items[string](v) {
						f.Members = append(f.Members, place[:len(place)-len(keys)]+pattern)
					}
				case "entries":
					f.entries(v, 0)
				case "commands":
					f.commands(v)
				case "scripts":
					f.scripts(v)
				case "points":
					f.points(v)
				case "private":
					f.Private = f.Private || strings.EqualFold(fmt.Sprint(v), wanted)
				}
			}
		}
	}
}

// depends adds the keys of a mapping, and the first word of any other entry, since versions follow it.
func (f *file) depends(value any, pattern string) {
	names := items[string](value)
	switch v := value.(type) {
	case string:
		names = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == '\n' })
	case object:
		names = v.keys()
	}
	for _, name := range names {
		name = firstWord(name)
		if ok, _ := path.Match(pattern, name); ok || pattern == "" {
			f.Dependencies = append(f.Dependencies, name)
		}
	}
}

// entries adds the paths in the nested conditions of exports, in order.
func (f *file) entries(value any, level int) {
	if level > 8 {
		return
	}
	switch v := value.(type) {
	case string:
		f.entry(v)
	case []any:
		for _, item := range v {
			f.entries(item, level+1)
		}
	case object:
		for _, m := range v {
			f.entries(m.value, level+1)
		}
	}
}

// commands adds the keys of a mapping, and the names of files. A package with a single program gives the program its
// own name.
func (f *file) commands(value any) {
	switch v := value.(type) {
	case string:
		f.command(baseOf(f.Name))
	case []any:
		for _, p := range items[string](v) {
			f.command(baseOf(p))
		}
	case object:
		f.command(v.keys()...)
	}
}

// points adds the commands of a Python package: a mapping, or lines of a text.
func (f *file) points(value any) {
	text, _ := value.(string)
	for l := range strings.Lines(text) {
		f.pythonScript(l)
	}
	o, _ := value.(object)
	for _, m := range o {
		target, _ := m.value.(string)
		f.pythonScript(m.key + "=" + target)
	}
}

// baseOf returns the text after the last slash.
func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// scripts adds named commands. A command may be a list, or a mapping that contains the command.
func (f *file) scripts(value any) {
	o, _ := value.(object)
	for _, m := range o {
		sub, _ := m.value.(object)
		command := strings.Join(items[string](m.value), " && ")
		command = cmp.Or(command, sub.text("command"), sub.text("cmd"), sub.text("shell"))
		if m.key != "" && command != "" && len(f.Scripts) < listItems {
			f.Scripts = append(f.Scripts, Script{line(m.key), line(command)})
		}
	}
}

// customary adds the entry points that such packages usually have.
func (f *file) customary() {
	names := strings.NewReplacer("${name}", f.Name, "${folders}", strings.ReplaceAll(f.Name, "-", "/"),
		"${module}", strings.NewReplacer("-", "_", ".", "/").Replace(f.Name))
	for _, place := range f.rules["files"].places {
		switch {
		case strings.Contains(place, "${command}"):
			for _, command := range f.Commands {
				f.entry(strings.ReplaceAll(place, "${command}", command))
			}
		case f.Name != "" || !strings.Contains(place, "${"):
			f.entry(names.Replace(place))
		}
	}
}

// readGoMod reads a go.mod. Of a faulty one it only reads the path. Indirect requirements do not count.
func readGoMod(f *file, text string) error {
	mod, err := modfile.ParseLax(f.Path, []byte(text), nil)
	if err != nil {
		f.Name = modfile.ModulePath([]byte(text))
		return err
	}
	if mod.Module != nil {
		f.Name = mod.Module.Mod.Path
	}
	if mod.Go != nil {
		f.Requires = "Go " + mod.Go.Version
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			f.Dependencies = append(f.Dependencies, r.Mod.Path)
		}
	}
	return nil
}

// readGoWork reads a go.work. The folders that it uses are the members.
func readGoWork(f *file, text string) error {
	mod, err := modfile.ParseWork(f.Path, []byte(text), nil)
	if err != nil {
		return err
	}
	if mod.Go != nil {
		f.Requires = "Go " + mod.Go.Version
	}
	for _, u := range mod.Use {
		f.Members = append(f.Members, u.Path)
	}
	return nil
}
