package scan

import (
	"bytes"
	_ "embed"
	"path"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// namesText says how it is read.
//
//go:embed names.txt
var namesText string

// known is a name, and what has it, such as "manifest" or "language".
type known struct{ is, name string }

// names say which language it is; "" of all else.
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

// languageOf names the language by the name, and by the first line where the name does not tell.
func languageOf(name string, head []byte) string {
	language := Language(name)
	switch {
	case language == "TypeScript" && bytes.HasPrefix(head, []byte("<")): // translations of Qt
		return ""
	case language == "" && path.Ext(name) == ".m" && isObjectiveC(head):
		return "Objective-C"
	case language == "" && bytes.HasPrefix(head, []byte("#!")):
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		return interpreted(string(line))
	}
	return language
}

func isObjectiveC(head []byte) bool {
	return prose.ContainsAny(string(head), "#import", "@interface", "@implementation", "@protocol", "#include")
}

// interpreted reads what follows "#!".
func interpreted(line string) string {
	words := strings.Fields(line)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	return names()[known{"interpreted", strings.TrimRight(path.Base(words[0]), "0123456789.")}]
}
