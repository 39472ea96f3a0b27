package source

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// CommentLines counts the lines that are only comment, without the licence.
func CommentLines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if len(t) > 8 && prose.StartsWithAny(t, "//", "/*", "* ", "# ", `"""`, "-- ", "@doc", "@moduledoc") {
			n++
		}
	}
	return n
}

// IsCopy reports whether a file says that it was copied from elsewhere.
func IsCopy(text string) bool {
	low := strings.ToLower(text[:min(len(text), 2000)])
	return prose.ContainsAny(low, "is a copy of http", "copied from http", "vendored from", "copied verbatim",
		"taken from http", "originally based on", "originally taken from", "ported from http")
}

// Declarations counts the lines that begin like declarations in most languages.
func Declarations(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if prose.StartsWithAny(t, "def ", "class ", "func ", "function ", "export ", "pub ", "public ", "fn ",
			"module ", "interface ", "struct ", "enum ", "trait ", "type ", "abstract ", "final ", "async ",
			"static ", "extern ", "typedef ", "template", "defmodule ", "inline ", "impl ", "const ",
			"module.exports", "exports.", "proc ", "fun ", "val ", "sub ", "void ", "int ", "char ") {
			n++
		}
	}
	return n
}
