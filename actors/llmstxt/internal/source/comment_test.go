package source_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
)

func TestSourceNotes(t *testing.T) {
	const want = "Frobs widgets over the network."
	for path, text := range map[string]string{
		"a.py": "#!/usr/bin/env python\n# Copyright 2020 X\n\n\"\"\"" + want + "\n\nMore.\n\"\"\"\nimport os\n",
		"b.py": "# " + want + "\nimport os\n",
		"d.py": "#!/usr/bin/python\n# Copyright X\nDOCUMENTATION = r'''\n---\nmodule: d\nshort_description: " + want + "\n'''\n",
		"a.ts": "/* Copyright 2020 X, all rights reserved. */\nimport x from 'y'\n\n/**\n * " + want +
			"\n * @param x y\n */\nexport default function f() {}\n",
		"b.js":   "'use strict'\n// " + want + "\n",
		"a.rs":   "//! " + want + "\n//!\n//! More.\nuse std::io;\n",
		"a.go":   "// Copyright X.\n\n// " + want + "\npackage a\n",
		"a.sh":   "#!/bin/sh\n# " + want + "\nset -e\n",
		"A.java": "package a;\n\nimport b;\n\n/** " + want + " More. */\nclass A {}\n",
		"a.h":    "#pragma once\n/// @file " + want + "\n",
		"a.ex":   "defmodule A do\n  @moduledoc \"\"\"\n  " + want + "\n\n  More.\n  \"\"\"\nend\n",
		"a.hs":   "{-# LANGUAGE CPP #-}\n-- |\n-- Module: A\n-- Copyright: (c) X\n--\n-- " + want + "\n\nmodule A where\n",
		"b.hs":   "{- |\n   Module : A\n   Copyright : X\n\n" + want + "\n-}\nmodule A where\n",
		"a.dart": "// Copyright X.\n\nlibrary;\n\nimport 'a.dart'\n    if (dart.library.io) 'b.dart';\nexport 'c.dart';\n\n/// " + want +
			"\nabstract class A {}\n",
		"a.clj": "(ns a.b\n  \"" + want + " More.\"\n  (:require [c]))\n",
		"a.R":   "#' " + want + "\n#'\n#' @param x One.\na <- function(x) x\n",
		"a.mli": "(* Copyright X. *)\n\n(** " + want + " *)\n\nval a : int\n",
		"a.pm":  "package A;\n1;\n\n=head1 NAME\n\nA - " + want + "\n",
		"a.erl": "%% " + want + "\n-module(a).\n",
	} {
		if got := source.Note(scan.Language(path), text); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	for path, text := range map[string]string{
		"a.py": "import os\n# not at the top of the file, so not about it\n",
		"a.js": "// eslint-disable no-console and all the others\nfoo()\n",
		"a.rs": "fn main() {}\n// a comment that is not at the top\n",
		"b.xx": "# unknown language with a comment\n",
	} {
		if got := source.Note(scan.Language(path), text); got != "" {
			t.Errorf("%s: %q, want none", path, got)
		}
	}
}

// TestRemarksAreNotAboutTheFile shows which comments before the first code count.
func TestRemarksAreNotAboutTheFile(t *testing.T) {
	for text, want := range map[string]string{
		"/* frob.h -- turns widgets around twice */\n#ifndef FROB_H\n#define FROB_H\n":  "frob.h -- turns widgets around twice",
		"#include <x.h>\n\n/* Objects that are shared by all of us. */\nint x;\n":       "",
		"#include <x.h>\n/* A macro that makes widgets of things. */\n#define X(a) a\n": "",
		"#ifndef A_H\n#define A_H\n\n/* Five types of lists are defined here. */\n\n":   "Five types of lists are defined here.",
	} {
		if got := source.Note("C", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// How a script is called is not what it does.
func TestUsageEndsANote(t *testing.T) {
	const text = "#!/usr/bin/env bash\n# frob: turns widgets around\n# usage: frob [OPTIONS] [--] [FILE]\n\nfail() {\n"
	if got, want := source.Note("Shell", text), "frob: turns widgets around"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDocsAreAboutTheirSymbols shows what of a comment is left as a doc.
func TestDocsAreAboutTheirSymbols(t *testing.T) {
	for comment, want := range map[string]string{
		"/////   Frob   //////":           "",
		"// base type ////":               "",
		"// frob - turns widgets around":  "turns widgets around",
		"/** Turns widgets around. */":    "Turns widgets around.",
		"/** ## Widget Structure */":      "",
		"/** # Use\n * Turns widgets. */": "Turns widgets.",
		"// Turns [widgets](http://w.example) of [`Frob`][frob::Frob], see [Spoon.turn], [like] this.": "Turns widgets of `Frob`, see `Spoon.turn`, [like] this.",
		"// Turns [widgets](http://w.example)[spoons](http://s.example).":                              "Turns widgetsspoons.",
		"// Writes the {common log format}[http://log.example] of Frob.":                               "Writes the common log format of Frob.",
		"// Ready? Turns widgets when all is set.":                                                     "Turns widgets when all is set.",
	} {
		o, _ := source.Outline(t.Context(), "JavaScript", []byte(comment+"\nexport function frob() {}\n"))
		if len(o.Symbols) != 1 || o.Symbols[0].Doc != want {
			t.Errorf("%s: %+v, want %q", comment, o.Symbols, want)
		}
	}
}

// TestGoBodiesDoNotCount holds what is read of formatted and of other Go to the same.
func TestGoBodiesDoNotCount(t *testing.T) {
	const source = `package a

// Frob frobs.
func Frob(
	n int,
) error {
	s := ` + "`" + `
}
func Fake() {
` + "`" + `
	_ = s
	return nil
}

func Short() {}

// T is one.
type T struct{ A int }

// Turn turns.
func (T) Turn() (int, error) {
	for {
	}
}
`
	o := golang.Package(t.Context(), []golang.Source{{Text: []byte(source)}})
	want := []struct {
		name string
		line int
	}{{"Frob", 4}, {"Short", 15}, {"T", 18}, {"T.Turn", 21}}
	if len(o.Symbols) != len(want) {
		t.Fatalf("%+v", o.Symbols)
	}
	for i, s := range o.Symbols {
		if s.Name != want[i].name || s.Line != want[i].line {
			t.Errorf("%s at %d, want %v", s.Name, s.Line, want[i])
		}
	}
}
