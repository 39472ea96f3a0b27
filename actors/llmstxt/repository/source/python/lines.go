package python

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
)

// note is in the docstring of the module, else in the comment that it begins with; of a module of Ansible where it
// says what it is for.
func note(text string) string {
	if _, said, ok := strings.Cut(text, "\nshort_description: "); ok {
		said, _, _ = strings.Cut(said, "\n")
		return prose.Tidy(said)
	}
	r := pyReader{text: text}
	for line, ok := r.next(); ok; line, ok = r.next() {
		if isPyString(line.text) {
			return language.Note(language.Paragraphs(pyDoc(line.text)))
		}
		if line.text[0] != '#' {
			break
		}
	}
	return language.Note(language.LineBlocks(text, "#"))
}

func imports(line string) []string {
	if rest, ok := strings.CutPrefix(line, "from "); ok {
		module, names, _ := strings.Cut(rest, " import ")
		return importsFrom(strings.TrimSpace(module), names)
	}
	rest, ok := strings.CutPrefix(line, "import ")
	if !ok {
		return nil
	}
	var list []string
	for name := range strings.SplitSeq(rest, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
		list = append(list, strings.ReplaceAll(name, ".", "/"))
	}
	return list
}

func importsFrom(module, names string) []string {
	dots := len(module) - len(strings.TrimLeft(module, "."))
	up := ""
	if dots > 0 {
		up = "./" + strings.Repeat("../", dots-1)
	}
	below := strings.ReplaceAll(module[dots:], ".", "/")
	list := []string{up + below}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return !prose.IsIdent(r) }) {
		if len(list) < 12 {
			list = append(list, up+path.Join(below, name))
		}
	}
	return list
}

// withoutDocstrings leaves out the strings of three quotes.
func withoutDocstrings(text string) string {
	var b strings.Builder
	from := 0
	for i, end := range pyPieces(text) {
		if quote := text[i]; end-i > 2 && (quote == '"' || quote == '\'') && text[i+1] == quote && text[i+2] == quote {
			b.WriteString(text[from:i])
			from = end
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

func folders(_, unit string) []string { return []string{".", "src", unit, path.Join(unit, "src")} }

// IsPackage tells a name that a package can be imported by.
func IsPackage(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && s[0] != '_' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Module is the path by which a file or folder is imported: from the outermost folder on that isPackage holds for.
func Module(p string, isPackage func(folder string) bool) string {
	p = strings.TrimSuffix(p, path.Ext(p))
	if path.Base(p) == "__init__" && p != "__init__" {
		p = path.Dir(p)
	}
	from := p
	for dir := path.Dir(from); dir != "." && isPackage(dir); dir = path.Dir(dir) {
		from = dir
	}
	return strings.TrimPrefix(p, strings.TrimSuffix(path.Dir(from)+"/", "./"))
}
