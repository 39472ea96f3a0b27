package manifest

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var pythonTarget = lazyregexp.New(`^\s*([^=\s]+)\s*=\s*([\w.]*)`)

// pythonScript adds "name = package.module:function".
func (f *file) pythonScript(l string) {
	m := pythonTarget.FindStringSubmatch(l)
	if m == nil {
		return
	}
	f.command(m[1])
	if m[2] != "" {
		f.entry(strings.ReplaceAll(m[2], ".", "/") + ".py")
	}
}

// readSetupCfg reads a setup.cfg by its rules. Its repository is a line in a text, which rules do not reach.
func readSetupCfg(f *file, text string) error {
	o, err := f.tree(parseLines, text)
	if strings.Contains(f.Version, ":") {
		f.Version = "" // "attr: package.version" or "file: VERSION"
	}
	for l := range strings.Lines(o.text("metadata/project_urls")) {
		key, url, _ := strings.Cut(l, "=")
		if prose.ContainsAny(strings.ToLower(key), "source", "repository") {
			f.Repository = strings.TrimSpace(url)
		}
	}
	return err
}

// parseLines parses lines of "key: value" or "key = value". A section begins with [its name] or, as in Cabal, with a
// line of its kind and its name, which becomes the text of the section. Cabal indents the content of a section. Other
// indented lines continue the value above.
func parseLines(text string) (object, error) {
	var all, fields object
	section, brackets, deep := "", false, 0
	leave := func() {
		if section != "" {
			fields = object{{section, fields}}
		}
		all, fields, section = append(all, fields...), nil, ""
	}
	for l := range strings.Lines(text) {
		t := strings.TrimSpace(l)
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		sign := max(strings.IndexAny(t, ":="), 0)
		key := strings.TrimSpace(t[:sign])
		isKey := key != "" && strings.IndexFunc(key, isNoKeyRune) < 0
		switch {
		case t == "" || prose.StartsWithAny(t, "--", "#", ";"):
		case indent > deep && (!isKey || brackets || section == ""):
			if last := len(fields) - 1; last >= 0 && fields[last].key != "" {
				if value, _ := fields[last].value.(string); len(value) < textBytes/128 {
					fields[last].value = strings.TrimSpace(value + "\n" + t)
				}
			}
		case t[0] == '[':
			leave()
			section, brackets = strings.Trim(t, "[]"), true
		case isKey:
			if indent == 0 && !brackets {
				leave()
			}
			deep = indent
			fields = append(fields, member{key, strings.TrimSpace(t[sign+1:])})
		case indent == 0 && !brackets:
			leave()
			kind, name, _ := strings.Cut(t, " ")
			section, deep, fields = kind, 0, object{{"", strings.TrimSpace(name)}}
		}
	}
	leave()
	return all, nil
}

func isNoKeyRune(r rune) bool { return !prose.IsIdent(r) && !strings.ContainsRune("-@/", r) }

// listed splits a list on one or several lines.
func listed(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
}

// readDescription reads the DESCRIPTION of an R package, whose URLs are in one field: one at a Git host is the
// repository.
func readDescription(f *file, text string) error {
	o, err := f.tree(parseLines, text)
	for _, url := range listed(o.text("url")) {
		if prose.ContainsAny(url, "github.com/", "gitlab.com/", "codeberg.org/") {
			f.Repository = cmp.Or(f.Repository, url)
		} else {
			f.Homepage = cmp.Or(f.Homepage, url)
		}
	}
	for d := range strings.SplitSeq(o.text("depends"), ",") {
		if versions, ok := strings.CutPrefix(strings.TrimSpace(d), "R "); ok {
			f.Requires = "R " + strings.Trim(versions, " ()")
		}
	}
	return err
}

// readCabal reads a .cabal file by its rules, and the programs and exposed modules in its sections.
func readCabal(f *file, text string) error {
	o, err := f.tree(parseLines, text)
	dir := func(part object) string { return cmp.Or(part.text("hs-source-dirs"), ".") } // if there are several, the first is used
	for _, library := range o.objects("library") {
		for _, module := range listed(library.text("exposed-modules")) {
			f.entry(dir(library) + "/" + strings.ReplaceAll(module, ".", "/") + ".hs")
		}
	}
	for _, program := range o.objects("executable") {
		f.command(program.text(""))
		f.entry(dir(program) + "/" + program.text("main-is"))
	}
	return err
}

func firstWord(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t<>=^~!;[({,"); i >= 0 {
		return s[:i]
	}
	return s
}
