package scan

import (
	"bytes"
	_ "embed"
	"path"
	"regexp"
	"strings"
	"sync"
)

// namesText says how it is read.
//
//go:embed names.txt
var namesText string

// names say by what they are, such as "manifest" or "language", which language it is; "" of all else.
var names = sync.OnceValue(func() map[string]map[string]string {
	all := make(map[string]map[string]string)
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
		if all[what] == nil {
			all[what] = make(map[string]string)
		}
		for name := range strings.FieldsSeq(list) {
			all[what][name] = value
		}
	}
	return all
})

// is tells whether the name is that of such a file or folder.
func is(what, name string) bool {
	_, ok := names()[what][name]
	return ok
}

// endsAs tells whether the name ends as such files do, from a dot, a dash or an underscore on.
func endsAs(what, name string) bool {
	for i := range name {
		if strings.IndexByte("._-", name[i]) >= 0 && is(what, name[i:]) {
			return true
		}
	}
	return false
}

// Language names the programming or markup language of a file by its name, or "" when that does not tell.
func Language(name string) string { return names()["language"][extension(name)] }

// extension is in lower case.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// languageOf names the language by the name, and by the first line where the name does not tell.
func languageOf(name string, head []byte) string {
	language := Language(name)
	switch {
	case language == "TypeScript" && bytes.HasPrefix(head, []byte("<")): // translations of Qt
		return ""
	case language == "" && path.Ext(name) == ".m" && objectiveC.Match(head):
		return "Objective-C"
	case language == "" && bytes.HasPrefix(head, []byte("#!")):
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		return interpreted(string(line))
	}
	return language
}

var objectiveC = regexp.MustCompile("#import|#include|@interface|@implementation|@protocol")

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
	return names()["interpreted"][strings.TrimRight(path.Base(words[0]), "0123456789.")]
}
