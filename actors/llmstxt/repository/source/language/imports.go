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
