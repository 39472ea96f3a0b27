package scan

import (
	"bytes"
	_ "embed"
	"path"
	"regexp"
	"strings"
	"sync"
)

// namesText is the table of names, and explains its own form.
//
//go:embed names.txt
var namesText string

// names maps each category, such as "manifest" or "language", to its names; for languages the value is the language,
// and otherwise "".
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

// is reports whether the name belongs to the category.
func is(what, name string) bool {
	_, ok := names()[what][name]
	return ok
}

// endsAs reports whether the name ends like names of the category, from a dot, dash or underscore on.
func endsAs(what, name string) bool {
	for i := range name {
		if strings.IndexByte("._-", name[i]) >= 0 && is(what, name[i:]) {
			return true
		}
	}
	return false
}

// Language returns the programming or markup language of a file by its name, or "".
func Language(name string) string { return names()["language"][extension(name)] }

// extension returns the extension in lower case.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// languageOf returns the language by the file's name, or else by its first line.
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

// interpreted returns the language of a "#!" line.
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
