package rank_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

func TestSourceNotes(t *testing.T) {
	const want = "Frobs widgets over the network."
	for path, text := range map[string]string{
		"a.py": "#!/usr/bin/env python\n# Copyright 2020 X\n\n\"\"\"" + want + "\n\nMore.\n\"\"\"\nimport os\n",
		"b.py": "# " + want + "\nimport os\n",
		"a.ts": "/* Copyright 2020 X, all rights reserved. */\nimport x from 'y'\n\n/**\n * " + want +
			"\n * @param x y\n */\nexport default function f() {}\n",
		"b.js":   "'use strict'\n// " + want + "\n",
		"a.rs":   "//! " + want + "\n//!\n//! More.\nuse std::io;\n",
		"a.go":   "// Copyright X.\n\n// " + want + "\npackage a\n",
		"a.sh":   "#!/bin/sh\n# " + want + "\nset -e\n",
		"A.java": "package a;\n\nimport b;\n\n/** " + want + " More. */\nclass A {}\n",
		"a.h":    "#pragma once\n/// @file " + want + "\n",
		"a.erl":  "%% " + want + "\n-module(a).\n",
	} {
		if got := rank.Note(path, text); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	for path, text := range map[string]string{
		"a.py": "import os\n# not at the top of the file, so not about it\n",
		"a.js": "// eslint-disable no-console and all the others\nfoo()\n",
		"a.rs": "fn main() {}\n// a comment that is not at the top\n",
		"b.xx": "# unknown language with a comment\n",
	} {
		if got := rank.Note(path, text); got != "" {
			t.Errorf("%s: %q, want none", path, got)
		}
	}
}

// FuzzReading holds every reader of text to one tidy line, whatever the file.
func FuzzReading(f *testing.F) {
	f.Add("README.md", "# Name\n\n<p>x</p>\n\n[![b](c)](d) Prose that says something.\n")
	f.Add("README.mdx", "---\ntitle: x\n---\nimport a\n\n> quoted text of some length\n")
	f.Add("README.rst", "===\nabc\n===\n\n.. note::\n\nA :ref:`role <x>` and ``code`` of some length, and `more")
	f.Add("README.org", "#+TITLE: x\n* Heading\n#+begin_src\n")
	f.Add("LICENSE", "MIT")
	f.Add("a.1", ".TH A 1\n.SH NAME\na \\- says what it is for\n.nf\ncode\n.fi\n.Nm\n")
	f.Add("a.pod", "=head1 NAME\n\nA - says what B<it> is L<for|x>\n\n=item C<<x>>\n")
	f.Add("a.c", "#ifndef A\n#define A\n/* A comment of some length */\n\n#include <x>\n// more\nint x;")
	f.Add("a.rb", "# A comment of some length\nrequire 'x'\nautoload :X, 'y'")
	f.Add("a.rs", "use crate::{a, b};\npub mod x;\n")
	f.Add("a.py", "from . import a, b\nfrom ..c.d import (\n")
	f.Add("a.ts", "export * from './x.js'\nimport('y')\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		text = strings.ToValidUTF8(text, "")
		title, summary := rank.Purpose(path, text)
		for _, s := range append(rank.Read(path, text), title, summary, rank.Note(path, text)) {
			if strings.ContainsAny(s, "\n") || strings.TrimSpace(s) != s {
				t.Errorf("not one tidy line: %q", s)
			}
		}
		if utf8.RuneCountInString(summary) > 320 {
			t.Errorf("a summary of %d characters", utf8.RuneCountInString(summary))
		}
	})
}
