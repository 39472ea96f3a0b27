package scan

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

// namesText says how it is read.
//
//go:embed names.txt
var namesText string

// known gives for a name and what it is the name of, such as "manifest" or "language", which one that is. It is "" where
// nothing more is to say.
type known struct{ is, name string }

var names = sync.OnceValue(func() map[known]string {
	all := make(map[known]string, 1200)
	for line := range strings.Lines(namesText) {
		what, list, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		value := ""
		for _, kind := range []string{"language", "interpreted"} {
			if which, ok := strings.CutPrefix(what, kind+" "); ok {
				what, value = kind, which
			}
		}
		for name := range strings.FieldsSeq(list) {
			all[known{what, name}] = value
		}
	}
	return all
})

// is tells whether the name is that of such a file or folder.
func is(what, name string) bool {
	_, ok := names()[known{what, name}]
	return ok
}

// Language names the programming or markup language of a file by its name, or "" when that does not tell.
func Language(name string) string { return names()[known{"language", extension(name)}] }

var generatedEnds = sync.OnceValue(func() (ends []string) {
	for n := range names() {
		if n.is == "generated end" {
			ends = append(ends, n.name)
		}
	}
	return ends
})

// extension is in lower case.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }
