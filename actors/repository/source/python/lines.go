package python

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/source/language"
)

// note is in the docstring of the module, else in the comment that it begins with.
func note(text string) string {
	rest := strings.TrimLeft(skipLines(text, "#"), "rRuU")
	for _, quote := range []string{`"""`, "'''"} {
		if body, ok := strings.CutPrefix(rest, quote); ok {
			doc, _, _ := strings.Cut(body, quote)
			return language.Note(language.Paragraphs(doc))
		}
	}
	return language.Note(language.LineBlocks(text, "#"))
}

func skipLines(text, mark string) string {
	for {
		line, rest, more := strings.Cut(text, "\n")
		if t := strings.TrimSpace(line); !more || t != "" && !strings.HasPrefix(t, mark) {
			return text
		}
		text = rest
	}
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

// withoutDocstrings takes quotes in comments and in other strings for what they are, as far as lines tell.
func withoutDocstrings(text string) string {
	var b strings.Builder
	quote := ""
	for line := range strings.Lines(text) {
		if quote != "" {
			if _, after, ok := strings.Cut(line, quote); ok {
				line, quote = after, ""
			} else {
				continue
			}
		}
		for quote == "" {
			code, mark := beforeQuotes(line)
			b.WriteString(code)
			if mark == "" {
				break
			}
			_, after, ended := strings.Cut(line[len(code)+len(mark):], mark)
			if line = after; !ended {
				quote = mark
			}
		}
	}
	return b.String()
}

// beforeQuotes gives the line up to the first triple quote that is not in a comment, or all of it.
func beforeQuotes(line string) (code, mark string) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '#':
			return line, ""
		case (c == '"' || c == '\'') && strings.HasPrefix(line[i:], strings.Repeat(string(c), 3)):
			return line[:i], line[i : i+3]
		}
	}
	return line, ""
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
