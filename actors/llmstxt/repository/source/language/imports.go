package language

import (
	_ "embed"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
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

var capital = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// ElixirImports returns the file name of "alias Mix.NoProject" in Elixir's spelling.
func ElixirImports(line string) []string {
	list := Dotted(line)
	if len(list) == 0 {
		return nil
	}
	return []string{strings.ToLower(capital.ReplaceAllString(list[0], "${1}_$2"))}
}

//go:embed libraries.txt
var librariesText string

var libraries = sync.OnceValue(func() map[string]prose.List { return prose.Lists(librariesText) })

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

func ScriptReexports(line string) []string {
	if rest, ok := strings.CutPrefix(line, "export * from"); ok {
		return []string{between(rest, `'"`, `'"`)}
	}
	return nil
}

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
