package manifest

import (
	"cmp"
	"path"
	"strings"
)

func readOpam(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, triple: true, words: "-"})
	f.fill(func(key string) string { return literalAfter(toks, key, ":") })
	f.Name = cmp.Or(f.Name, strings.TrimSuffix(path.Base(f.Path), ".opam"))
	if i := toks.find("depends", ":", "["); i >= 0 {
		f.opamDependencies(toks.group(i + 2))
	}
	return nil
}

// opamDependencies ignores the conditions in braces.
func (f *file) opamDependencies(toks tokens) {
	for i := 0; i < len(toks); i++ {
		if toks[i].is("{") {
			i += len(toks.group(i))
		} else if toks[i].kind == str {
			f.Dependencies = append(f.Dependencies, toks[i].text)
		}
	}
}
