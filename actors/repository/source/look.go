package source

import (
	"go/doc"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

func IsTest(language, text string) bool {
	var marks []string
	switch language {
	case "Python":
		marks = []string{"import pytest", "import unittest", "from unittest"}
	case "JavaScript", "TypeScript":
		marks = []string{"from 'vitest'", "from \"vitest\"", "from '@jest", "from \"@jest", "from 'node:test'",
			"require('node:test')", "require('tap')", "require(\"chai\")", "require('chai')", "\ndescribe("}
	case "Java", "Kotlin":
		marks = []string{"import org.junit", "import org.testng"}
	case "Ruby":
		marks = []string{"require 'minitest", "require \"minitest", "require 'test_helper", "RSpec.describe",
			"require 'spec_helper"}
	case "PHP":
		marks = []string{"use PHPUnit\\"}
	case "C#":
		marks = []string{"using Xunit", "using NUnit"}
	case "C", "C++":
		marks = []string{"gtest/gtest.h", "catch.hpp", "catch2/"}
	}
	return prose.ContainsAny(text, marks...)
}

// CommentLines counts those that are nothing but comment, without the licence.
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

// HidesAll holds for a file of a language that says what is public, where nothing at its outermost level is. A longer
// file than was read may have it further down.
func HidesAll(language, text string, whole bool) bool {
	if language != "Java" && language != "C#" || !whole && !strings.Contains(text, "class ") {
		return false
	}
	if language == "C#" {
		return !strings.Contains(text, "public ")
	}
	return !strings.Contains(text, "\npublic ") && !strings.Contains(text, "module ")
}

// IsCopy finds where a file says that it was taken from elsewhere.
func IsCopy(text string) bool {
	low := strings.ToLower(text[:min(len(text), 2000)])
	return prose.ContainsAny(low, "is a copy of http", "copied from http", "vendored from", "copied verbatim",
		"taken from http", "originally based on", "originally taken from", "ported from http")
}

// Declarations counts lines that begin as declarations do in most languages.
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

// IsCpp finds what C does not have. Headers of C close a block for C++ with "extern".
func IsCpp(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if prose.StartsWithAny(line, "namespace ", "template <", "template<", "class ", "using namespace", "public:",
			"private:", "#include <string>", "#include <vector>", "#include <cstd", "#include <memory>") {
			return true
		}
	}
	return false
}

func NamesClasses(language string) bool {
	return slices.Contains([]string{"Java", "Kotlin", "C#", "PHP", "Swift", "Scala"}, language)
}

// Synopsis is the first sentence of a package comment, as the go command shows it, if the file is of that package.
// The name "" stands for any.
func Synopsis(source, name string) string {
	file, _ := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly|parser.ParseComments)
	if file == nil || file.Doc == nil || name != "" && file.Name.Name != name {
		return ""
	}
	return WithoutDocLinks(new(doc.Package).Synopsis(file.Doc.Text()))
}

// WithoutDocLinks takes the brackets off [pkg.Name] and [Type::method], the links of Go's and Rust's docs.
func WithoutDocLinks(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "[")
		name, after, closed := strings.Cut(rest, "]")
		b.WriteString(before)
		if !ok || !closed {
			b.WriteString(strings.Repeat("[", len(s)-len(before)-len(rest)) + rest)
			return b.String()
		}
		isLink := name != "" && (unicode.IsUpper(rune(name[0])) || strings.ContainsAny(name, ".:`") ||
			name[0] == '*') &&
			strings.IndexFunc(name, func(r rune) bool {
				return !prose.IsIdent(r) &&
					!strings.ContainsRune(".*/:`()!", r)
			}) < 0 &&
			(before == "" || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "("))
		if !isLink {
			b.WriteString("[")
			s = rest
			continue
		}
		b.WriteString(name)
		s = after
	}
}
