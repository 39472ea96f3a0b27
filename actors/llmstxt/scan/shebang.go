package scan

import (
	"bytes"
	"path"
	"strings"
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
	for _, word := range []string{"#import", "@interface", "@implementation", "@protocol", "#include"} {
		if bytes.Contains(head, []byte(word)) {
			return true
		}
	}
	return false
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
	switch strings.TrimRight(path.Base(words[0]), "0123456789.") {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox":
		return "Shell"
	case "python", "pypy", "uv":
		return "Python"
	case "node", "nodejs":
		return "JavaScript"
	case "deno", "bun", "ts-node", "tsx":
		return "TypeScript"
	case "ruby", "jruby":
		return "Ruby"
	case "perl":
		return "Perl"
	case "php":
		return "PHP"
	case "lua", "luajit":
		return "Lua"
	case "tclsh", "wish":
		return "Tcl"
	case "Rscript":
		return "R"
	case "elixir":
		return "Elixir"
	case "escript":
		return "Erlang"
	case "awk", "gawk", "mawk":
		return "Awk"
	case "pwsh":
		return "PowerShell"
	case "julia":
		return "Julia"
	case "groovy":
		return "Groovy"
	case "swift":
		return "Swift"
	case "runhaskell", "runghc", "stack":
		return "Haskell"
	}
	return ""
}
