package source

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

var jvmTests = []string{"import org.junit", "import org.testng"}

// languages are the known languages.
var languages = []language.Language{
	{Name: "Go", Outline: golang.Outline, Note: golang.Note, Ecosystems: []string{"go"}},
	{Name: "Python", Outline: python, Imports: language.PythonImports, Code: language.WithoutDocstrings,
		Note: language.PythonNote, Folders: language.PythonFolders, Family: "python", Ecosystems: []string{"pypi"},
		Tests: []string{"import pytest", "import unittest", "from unittest"}},
	{Name: "Ruby", Outline: ruby, Imports: language.RubyImports, Note: language.LineNote("#"),
		Folders: language.Below("lib"), Ecosystems: []string{"rubygems"}, Tests: []string{"require 'minitest",
			"require \"minitest", "require 'test_helper", "RSpec.describe", "require 'spec_helper"}},
	{Name: "Elixir", Outline: elixir, Imports: language.ElixirImports, Family: "beam", Ecosystems: []string{"hex"},
		Note: language.PatternNote(`(?s)@moduledoc\s+(?:~[sS])?"(?:"")?(.*?)"`, "")},
	{Name: "Shell", Outline: shell, Imports: language.Dotted, Note: language.LineNote("#")},
	script("JavaScript"), script("TypeScript"),
	{Name: "Rust", Outline: rust, Imports: language.RustImports, Note: language.BlockNote,
		Folders: language.RustFolders, Family: "rust", Ecosystems: []string{"cargo"}},
	{Name: "Java", Outline: java, Imports: language.Dotted, Code: language.WithoutComments, Note: language.ClassNote,
		Private: language.Without("\npublic ", "module "), Family: "jvm", Ecosystems: []string{"maven", "gradle"},
		Tests: jvmTests, Classes: true},
	{Name: "Kotlin", Outline: kotlin, Imports: language.Dotted, Code: language.WithoutComments,
		Note: language.ClassNote, Family: "jvm", Ecosystems: []string{"maven", "gradle"}, Tests: jvmTests, Classes: true},
	{Name: "Swift", Outline: swift, Imports: language.Dotted, Code: language.WithoutComments, Note: language.ClassNote,
		Folders: language.Below("Sources"), Ecosystems: []string{"swift", "cocoapods"}, Classes: true},
	{Name: "C#", Outline: csharp, Imports: language.Dotted, Code: language.WithoutComments, Note: language.ClassNote,
		Private: language.Without("public "), Family: ".net", Ecosystems: []string{"nuget"},
		Tests: []string{"using Xunit", "using NUnit"}, Classes: true},
	{Name: "PHP", Outline: php, Imports: language.Dotted, Code: language.WithoutComments, Note: language.ClassNote,
		Ecosystems: []string{"composer"}, Tests: []string{"use PHPUnit\\"}, Classes: true},
	cFamily("C", c), cFamily("C++", c),
	script("Vue"), script("Svelte"),
	{Name: "Dart", Imports: language.ScriptImports, Code: language.WithoutComments, Note: language.ClassNote,
		Folders: language.Below("lib"), Ecosystems: []string{"pub"}},
	{Name: "Zig", Imports: language.ScriptImports, Note: language.BlockNote, Ecosystems: []string{"zig"}},
	{Name: "Scala", Imports: language.Dotted, Code: language.WithoutComments, Note: language.ClassNote, Family: "jvm",
		Ecosystems: []string{"maven", "gradle"}, Classes: true},
	{Name: "Groovy", Imports: language.Dotted, Code: language.WithoutComments, Note: language.BlockNote,
		Family: "jvm", Ecosystems: []string{"maven", "gradle"}},
	dotNet("F#"), dotNet("Visual Basic"),
	{Name: "Erlang", Imports: language.Dotted, Note: language.LineNote("%"), Family: "beam",
		Ecosystems: []string{"hex"}},
	cFamily("Objective-C", nil), cFamily("CUDA", nil),
	// a comment among others at the top, with an empty line below it
	{Name: "OCaml", Note: language.PatternNote(`(?s)\A(?:\s|\(\*.*?\*\))*?\(\*\*\s(.*?)\*\)\s*?\n\n`, ""),
		Ecosystems: []string{"opam"}},
	{Name: "Haskell", Imports: language.Dotted, Note: haddock, Ecosystems: []string{"hackage"}},
	{Name: "R", Imports: language.Dotted, Note: language.PatternNote(`(?m)^((?:#'.*\n)+)`, "#'"),
		Ecosystems: []string{"cran"}},
	{Name: "Clojure", Imports: language.Dotted, Note: language.PatternNote(`\(ns\s[^"()]*"((?:[^"\\]|\\.)*)"`, ""),
		Ecosystems: []string{"clojars", "maven"}},
	{Name: "Perl", Imports: language.Dotted, Note: language.PatternNote(`(?m)^=head1 NAME\s+\S+ - (.+)$`, "")},
	marked("Julia", "#", "julia"), marked("Lua", "--"), marked("SQL", "--"), marked("Assembly", ";"),
}

// script makes a language of the JavaScript family. In some of them, files contain scripts.
func script(name string) language.Language {
	l := language.Language{Name: name, Imports: language.ScriptImports, Code: language.WithoutComments,
		Note: language.BlockNote, Folders: language.ScriptFolders, Family: "script",
		Ecosystems: []string{"npm", "deno", "jsr"}}
	if name == "JavaScript" || name == "TypeScript" {
		l.Outline, l.Reexports = javascript, language.ScriptReexports
		l.Tests = []string{"from 'vitest'", "from \"vitest\"", "from '@jest", "from \"@jest", "from 'node:test'",
			"require('node:test')", "require('tap')", "require(\"chai\")", "require('chai')", "\ndescribe("}
	}
	return l
}

func cFamily(name string, outline func(ctx context.Context, text []byte) surface.Outline) language.Language {
	return language.Language{Name: name, Outline: outline, Imports: language.Includes, Note: language.BlockNote,
		Folders: language.CFolders, Family: "c", Ecosystems: []string{"cmake", "meson"},
		Tests: []string{"gtest/gtest.h", "catch.hpp", "catch2/"}}
}

func dotNet(name string) language.Language {
	return language.Language{Name: name, Imports: language.Dotted, Code: language.WithoutComments,
		Note: language.BlockNote, Family: ".net", Ecosystems: []string{"nuget"}}
}

// marked makes a language whose comments extend to the end of the line.
func marked(name, mark string, ecosystems ...string) language.Language {
	return language.Language{Name: name, Imports: language.Dotted, Note: language.LineNote(mark),
		Ecosystems: ecosystems}
}

// haddock finds the note above the word module.
func haddock(text string) string {
	head, _, _ := strings.Cut("\n"+text, "\nmodule ")
	if _, doc, ok := strings.Cut(head, "\n{- |"); ok {
		doc, _, _ = strings.Cut(doc, "-}")
		return language.Note(language.Paragraphs(doc))
	}
	_, doc, _ := strings.Cut(head, "\n-- |")
	return language.Note(language.LineBlocks("-- "+doc, "--"))
}

// Of returns the language with the name. For an unknown language it returns what most languages have in common.
func Of(name string) language.Language {
	for _, l := range languages {
		if l.Name == name {
			return l
		}
	}
	return language.Language{Name: name, Imports: language.Dotted, Note: language.BlockNote}
}

// In returns the languages of an ecosystem's packages.
func In(ecosystem string) []string {
	var names []string
	for _, l := range languages {
		if slices.Contains(l.Ecosystems, ecosystem) {
			names = append(names, l.Name)
		}
	}
	return names
}

// Outline returns the public surface of a file. ok reports whether its language is supported. After ctx is done it
// soon returns what it has found.
func Outline(ctx context.Context, name string, text []byte) (outline surface.Outline, ok bool) {
	read := Of(name).Outline
	if read == nil {
		return surface.Outline{}, false
	}
	return surface.Finish(read(ctx, surface.Normal(text))), true
}

// Code returns the text without docstrings, and without comments on lines of their own, because examples in them
// import what the file does not.
func Code(name, text string) string {
	if code := Of(name).Code; code != nil {
		return code(text)
	}
	return text
}

// Family returns the name that the language shares with the languages whose files it may import.
func Family(name string) string { return cmp.Or(Of(name).Family, name) }

// Imports returns what the lines of a file import, by the rules of its language. It only looks at lines that begin
// like imports.
func Imports(name, text string) []string { return eachLine(Of(name).Imports, text) }

// Reexports returns the modules that a file exports completely.
func Reexports(name, text string) []string { return eachLine(Of(name).Reexports, text) }

func eachLine(read func(line string) []string, text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if read != nil && len(line) >= 6 && len(line) <= 400 {
			list = append(list, read(line)...)
		}
	}
	return list
}

// Note returns the first sentence of the comment or docstring at the beginning of a file. Licences, shebangs and
// directives do not count.
func Note(name, text string) string {
	note := Of(name).Note
	if name == "" || note == nil {
		return ""
	}
	return note(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\uFEFF"))
}
