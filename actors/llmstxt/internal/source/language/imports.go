package language

import (
	_ "embed"
	"path"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/packed"
)

// between returns the text between the first of the opening bytes and a closing byte.
func between(s, open, end string) string {
	i := strings.IndexAny(s, open)
	if i < 0 {
		return ""
	}
	j := strings.IndexAny(s[i+1:], end)
	if j < 0 {
		return ""
	}
	return s[i+1 : i+1+j]
}

// Dotted reads "import a.b.C;", "use A\B;", "alias A.B".
func Dotted(line string) []string {
	word, rest, ok := strings.Cut(line, " ")
	if !ok || word != "import" && word != "use" && word != "alias" && word != "open" && word != "require" &&
		word != "using" {
		return nil
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(rest), "static "), "qualified ")
	if i := strings.IndexFunc(rest, func(r rune) bool { return !prose.IsIdent(r) && r != '.' && r != '\\' }); i >= 0 {
		rest = rest[:i]
	}
	spec := strings.Trim(strings.NewReplacer(".", "/", `\`, "/").Replace(rest), "/")
	return []string{spec, path.Dir(spec)}
}

// Below searches imports in one folder of the package, or of the repository.
func Below(folder string) func(file, unit string) []string {
	return func(_, unit string) []string { return []string{path.Join(unit, folder), folder} }
}

// RubyImports reads "require" and similar lines.
func RubyImports(line string) []string {
	switch {
	case strings.HasPrefix(line, "require_relative"):
		return []string{"./" + between(line, `'"`, `'"`)}
	case strings.HasPrefix(line, "require "):
		return []string{between(line, `'"`, `'"`)}
	case strings.HasPrefix(line, "autoload "):
		_, rest, _ := strings.Cut(line, ",")
		return []string{between(rest, `'"`, `'"`)}
	}
	return nil
}

var capital = lazyregexp.New(`([a-z0-9])([A-Z])`)

// ElixirImports returns the file name of "alias Mix.NoProject" in Elixir's spelling.
func ElixirImports(line string) []string {
	list := Dotted(line)
	if len(list) == 0 {
		return nil
	}
	return []string{strings.ToLower(capital.ReplaceAllString(list[0], "${1}_$2"))}
}

//go:embed libraries.txt.gz
var librariesText string

var libraries = sync.OnceValue(func() map[string]prose.List { return prose.Lists(string(packed.Text(librariesText))) })

// IsLibrary reports whether the module comes with "python", "node", "rust" or "c".
func IsLibrary(of, name string) bool {
	return libraries()[of].Has(name) || of == "python" && strings.HasPrefix(name, "_")
}

// Includes reads "#include" lines.
func Includes(line string) []string {
	if rest, ok := strings.CutPrefix(line, "#"); ok && strings.HasPrefix(strings.TrimSpace(rest), "include") {
		return []string{between(rest, `"<`, `">`)}
	}
	return nil
}

// CFolders returns the folders of a C file's headers: its own, and those for headers.
func CFolders(file, unit string) []string {
	return []string{path.Dir(file), path.Join(unit, "include"), unit, path.Join(unit, "src"), "include", ".", "src"}
}

// RustImports reads "mod name;" and "use a::b::{C, D};". Of a group it takes the first ten names.
func RustImports(line string) []string {
	line = strings.TrimPrefix(line, "pub ")
	if name, ok := strings.CutPrefix(line, "mod "); ok && strings.HasSuffix(name, ";") {
		return []string{"./" + strings.TrimSuffix(name, ";")}
	}
	rest, ok := strings.CutPrefix(line, "use ")
	if !ok {
		return nil
	}
	rest = strings.TrimRight(strings.NewReplacer("::", "/", ";", "").Replace(rest), "/ ")
	head, names, grouped := strings.Cut(rest, "{")
	head = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(head, "crate/"), "super/"), "/")
	list := []string{head, path.Dir(head)}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return !prose.IsIdent(r) }) {
		if grouped && len(list) < 12 {
			list = append(list, path.Join(head, name))
		}
	}
	return list
}

// RustFolders returns where the modules of a Rust file are: in a folder of its name, beside it, or below src.
func RustFolders(file, unit string) []string {
	return []string{strings.TrimSuffix(file, path.Ext(file)), path.Dir(file), path.Join(unit, "src")}
}

// ScriptImports reads imports of JavaScript, and of languages with embedded or similar scripts.
func ScriptImports(line string) []string {
	for _, mark := range []string{" from ", "require(", "import(", "import ", "export '", "export \"", "} from"} {
		i := strings.Index(line, mark)
		if i < 0 {
			continue
		}
		rest := line[i+len(mark)-1:]
		if strings.Contains(mark, "from") && strings.IndexAny(strings.TrimSpace(rest[1:]), `'"`) != 0 {
			continue // a variable with that name
		}
		if s := between(rest, `'"`, `'"`); s != "" {
			return []string{s}
		}
	}
	return nil
}

// ScriptFolders returns where scripts look for a path that is not relative.
func ScriptFolders(_, unit string) []string {
	return []string{path.Join(unit, "src"), unit, path.Join(unit, "src/lib"), "src", "."}
}

// NodePackage splits an import into the package's name and the path within the package.
func NodePackage(spec string) (name, rest string) {
	parts := strings.SplitN(spec, "/", 3)
	if spec[0] == '@' && len(parts) > 1 {
		return parts[0] + "/" + parts[1], strings.Join(parts[2:], "/")
	}
	return parts[0], strings.Join(parts[1:], "/")
}

// IsNodePackage reports whether npm accepts the name.
func IsNodePackage(name string) bool {
	return len(name) < 215 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./@") == "" &&
		strings.Trim(name, "@/.") != "" && name != "@" && !strings.HasPrefix(name, "@/")
}

// WithoutComments removes the lines that are only comment.
func WithoutComments(text string) string {
	if !strings.Contains(text, "//") && !strings.Contains(text, "*") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		start := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(start, "*") && !strings.HasPrefix(start, "//") && !strings.HasPrefix(start, "/*") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// docstring matches the docstring of a Python module, after its comments.
var docstring = lazyregexp.New(`(?s)\A(?:\s|#[^\n]*\n)*[rRuU]?(?:"""(.*?)"""|'''(.*?)'''|"([^"\n]+)"\n)`)

// PythonNote finds the note in the docstring of the module, or else in the comment at its beginning. For an Ansible
// module it is the short description.
func PythonNote(text string) string {
	if _, words, ok := strings.Cut(text, "\nshort_description: "); ok {
		words, _, _ = strings.Cut(words, "\n")
		return prose.Tidy(words)
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

// importsFrom returns the module, and the first names imported from it, which may be modules too. Dots lead upwards.
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

// PythonFolders returns where Python looks for packages.
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
