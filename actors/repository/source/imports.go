package source

import (
	"path"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// Imports gives what the lines of a source of any language but Go import, each as a path: relative ones begin with a
// dot. Where a spec may name a thing in a file, or the file itself, both follow each other. Only lines that begin as
// imports do are looked at.
func Imports(language, text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) < 6 || len(line) > 400 {
			continue
		}
		switch language {
		case "JavaScript", "TypeScript", "Vue", "Svelte", "Dart", "Zig":
			list = append(list, scriptSpecs(line)...)
		case "Python":
			list = append(list, pythonSpecs(line)...)
		case "Rust":
			list = append(list, rustSpecs(line)...)
		case "C", "C++":
			if rest, ok := strings.CutPrefix(line, "#"); ok && strings.HasPrefix(strings.TrimSpace(rest), "include") {
				list = append(list, between(rest, `"<`, `">`))
			}
		case "Ruby":
			list = append(list, rubySpecs(line)...)
		default:
			list = append(list, dottedSpecs(language, line)...)
		}
	}
	return list
}

// WholeExports gives what the lines of a script export all of.
func WholeExports(language, text string) []string {
	var list []string
	if language != "JavaScript" && language != "TypeScript" {
		return nil
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "export * from"); ok {
			list = append(list, between(rest, `'"`, `'"`))
		}
	}
	return list
}

// between is the text from after one of the opening bytes to a closing one.
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

func scriptSpecs(line string) []string {
	for _, mark := range []string{" from ", "require(", "import(", "import ", "export '", "export \"", "} from"} {
		i := strings.Index(line, mark)
		if i < 0 {
			continue
		}
		rest := line[i+len(mark)-1:]
		if strings.Contains(mark, "from") && strings.IndexAny(strings.TrimSpace(rest[1:]), `'"`) != 0 {
			continue // a variable of that name
		}
		if s := between(rest, `'"`, `'"`); s != "" {
			return []string{s}
		}
	}
	return nil
}

func pythonSpecs(line string) []string {
	if rest, ok := strings.CutPrefix(line, "from "); ok {
		module, names, _ := strings.Cut(rest, " import ")
		return pythonFrom(strings.TrimSpace(module), names)
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

func pythonFrom(module, names string) []string {
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

func rustSpecs(line string) []string {
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

func rubySpecs(line string) []string {
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

// dottedSpecs reads "import a.b.C;", "use A\B;", "alias A.B".
func dottedSpecs(language, line string) []string {
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
	if language == "Elixir" {
		return []string{snake(spec)}
	}
	return []string{spec, path.Dir(spec)}
}

// snake writes "Mix/NoProject" as Elixir names its files.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 && s[i-1] != '/' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
