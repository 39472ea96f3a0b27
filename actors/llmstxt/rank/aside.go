package rank

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// asideOf says why a source is nothing for readers of the product.
func (b *builder) asideOf(s *source, text string) string {
	stem := stemOf(s.Path)
	switch {
	case isTestText(s.file.Language, text):
		return "a test, by its imports"
	case b.isVariant(s.Path):
		return "another build of a listed file"
	case s.entry == "" && b.isBuilt(s.Path):
		return "built from a source file next to it"
	case s.entry == "" && isBuildScript(s.Path):
		return "builds the product, but is not part of it"
	case stem == "package-info" || stem == "module-info" || stem == "assemblyinfo":
		return "describes one package only"
	}
	return ""
}

func isBuildScript(p string) bool {
	switch base := strings.ToLower(path.Base(p)); base {
	case "setup.py", "conf.py", "build.rs", "gulpfile.js", "gruntfile.js", "noxfile.py", "fabfile.py", "tasks.py",
		"rakefile", "build.py", "manage.py", "extconf.rb", "build.zig", "package.swift", "mix.exs", "build.sbt",
		"configure.py", "phpstan.php":
		return true
	default:
		return strings.Contains(base, ".config.") || strings.HasPrefix(base, ".") ||
			strings.HasSuffix(base, ".gradle.kts")
	}
}

// isVariant finds the file of the same name without a folder for one module system: dist/cjs/x.js beside dist/x.js.
func (b *builder) isVariant(p string) bool {
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "cjs" || part == "umd" || part == "commonjs" || part == "es5" {
			for _, instead := range []string{"", "esm/", "es/"} {
				if b.byPath[strings.TrimPrefix(strings.Join(parts[:i], "/")+"/", "/")+instead+strings.Join(parts[i+1:],
					"/")] != nil {
					return true
				}
			}
		}
	}
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	return (ext == ".cjs" || ext == ".cts") && (b.byPath[stem+".js"] != nil || b.byPath[stem+".mjs"] != nil ||
		b.byPath[stem+".ts"] != nil)
}

// isBuilt finds the TypeScript that a script was compiled from: the end of its path is the same.
func (b *builder) isBuilt(p string) bool {
	ext := path.Ext(p)
	if ext == ".ts" || ext == ".cts" || ext == ".mts" {
		if !strings.HasSuffix(strings.TrimSuffix(p, ext), ".d") {
			return false
		}
	} else if ext != ".js" && ext != ".cjs" && ext != ".mjs" {
		return false
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(p, ext), ".d")
	_, below, _ := strings.Cut(stem, "/")
	for _, s := range []string{stem, "src/" + stem, "src/" + below, "source/" + below, "lib/" + below} {
		for _, e := range []string{".ts", ".tsx", ".mts"} {
			if f := b.byPath[s+e]; f != nil && s+e != p && !strings.HasSuffix(s, ".d") &&
				strings.TrimSuffix(s, "/") == s {
				return true
			}
		}
	}
	return false
}

func isTestText(language, text string) bool {
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

// commentLines counts those that are nothing but comment, without the licence.
func commentLines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if len(t) > 8 && prose.StartsWithAny(t, "//", "/*", "* ", "# ", `"""`, "-- ", "@doc", "@moduledoc") {
			n++
		}
	}
	return n
}

// hidesAll holds for a file of a language that says what is public, where nothing at its outermost level is. A longer
// file than was read may have it further down.
func hidesAll(language, text string, size int64) bool {
	if language != "Java" && language != "C#" || size > importBytes && !strings.Contains(text, "class ") {
		return false
	}
	if language == "C#" {
		return !strings.Contains(text, "public ")
	}
	return !strings.Contains(text, "\npublic ") && !strings.Contains(text, "module ")
}

// isCopy finds where a file says that it was taken from elsewhere.
func isCopy(text string) bool {
	low := strings.ToLower(text[:min(len(text), 2000)])
	return prose.ContainsAny(low, "is a copy of http", "copied from http", "vendored from", "copied verbatim",
		"taken from http", "originally based on", "originally taken from", "ported from http")
}

// declarations counts lines that begin as declarations do in most languages.
func declarations(text string) int {
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
