package scan

import (
	"bytes"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

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
