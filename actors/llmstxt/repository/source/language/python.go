package language

import (
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// docstring matches the docstring of a Python module, after its comments.
var docstring = regexp.MustCompile(`(?s)\A(?:\s|#[^\n]*\n)*[rRuU]?(?:"""(.*?)"""|'''(.*?)'''|"([^"\n]+)"\n)`)

// PythonNote finds the note in the docstring of the module, or else in the comment at its beginning. For an Ansible
// module it is the short description.
func PythonNote(text string) string {
	if _, said, ok := strings.Cut(text, "\nshort_description: "); ok {
		said, _, _ = strings.Cut(said, "\n")
		return prose.Tidy(said)
	}
	if m := docstring.FindStringSubmatch(text); m != nil {
		return Note(Paragraphs(m[1] + m[2] + m[3]))
	}
	return Note(LineBlocks(text, "#"))
}

// PythonImports reads "from a.b import C" and "import a.b".
func PythonImports(line string) []string {
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

// WithoutDocstrings removes strings with triple quotes.
func WithoutDocstrings(text string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '#':
			i += max(0, strings.IndexByte(text[i:], '\n'))
		case '"', '\'':
			mark := text[i : i+1]
			if tripled := strings.Repeat(mark, 3); strings.HasPrefix(text[i:], tripled) {
				mark = tripled
			}
			end := stringEnd(text, i+len(mark), mark)
			if len(mark) > 1 {
				b.WriteString(text[from:i])
				from = end
			}
			i = end - 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// stringEnd returns the end of a string that began with the mark. A string of one line ends with the line.
func stringEnd(text string, i int, mark string) int {
	for ; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], mark):
			return i + len(mark)
		case text[i] == '\n' && len(mark) == 1:
			return i
		}
	}
	return len(text)
}

func PythonFolders(_, unit string) []string {
	return []string{".", "src", unit, path.Join(unit, "src")}
}

// IsPythonPackage reports whether a package can be imported by the name.
func IsPythonPackage(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && s[0] != '_' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// PythonModule returns the name by which a file or folder is imported, from the outermost folder for which isPackage
// is true.
func PythonModule(p string, isPackage func(folder string) bool) string {
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
