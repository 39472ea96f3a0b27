package rank_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// notes gives the notes by path, those of the API by title.
func notes(index *rank.Index) map[string]string {
	list := make(map[string]string)
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if s.Name == "API" && len(l.Reasons) > 0 && strings.HasPrefix(l.Reasons[0], "public") {
				list[l.Title] = l.Note
				continue
			}
			list[l.Path] = l.Note
		}
	}
	return list
}

func hold(t *testing.T, index *rank.Index, want map[string]string) {
	t.Helper()
	got := notes(index)
	for key, note := range want {
		if has, ok := got[key]; note == "-" && ok {
			t.Errorf("%s is listed: %q", key, has)
		} else if note != "-" && (!ok || has != note) {
			t.Errorf("the note of %s is %q (listed: %v), want %q", key, has, ok, note)
		}
	}
}

func facts(index *rank.Index) map[string]string {
	list := make(map[string]string)
	for _, f := range index.Facts {
		list[f.Name] = f.Value
	}
	return list
}

func TestNotesOfPages(t *testing.T) {
	hold(t, build(t, `
-- README.md --
# Frob

Frob is a library for widgets.

## Installing

Run it.

## Turning widgets

## License
-- a.md --
# Turning

Do you prefer turning by hand? Widgets are turned by hand or by a machine.
-- b.md --
# Code first

Use it like this:

`+"```\nfrob\n```"+`

This sentence is about what the code does.

## One part

## Other part
-- g.md --
<h1 align="center">Frob</h1>

## Getting started

Hello! Thank you for coming!

This document is about the first widget that one turns.
-- f.md --
# Only code before

`+"```\nfrob\n```"+`

This page is about what frobs do to widgets.
-- c.md --
# Questions

## Why is it so round?

Because it was made round in the first place.

## Why is it so heavy?

## Why is it so old?
-- d.md --
# Slices

The slice filter takes a part of a widget or of a list:

    slice(1)
-- e.md --
# Headings

## First

### Deeper

A sentence that stands too deep to be about the page.

## Second
-- guide.rst --
:c:type:`+"`frob_t`"+` --- Base frob
===============================

Frobs are the *base* of it, see :rfc:`+"`4627`"+` for all of them.
`, scan.Origin{}, rank.Options{}), map[string]string{
		"README.md": "Installing · Turning widgets",
		"a.md":      "Widgets are turned by hand or by a machine.",
		"b.md":      "One part · Other part",
		"g.md":      "This document is about the first widget that one turns.",
		"f.md":      "This page is about what frobs do to widgets.",
		"c.md":      "“Why is it so round?” “Why is it so heavy?” …",
		"d.md":      "The slice filter takes a part of a widget or of a list.",
		"e.md":      "First · Second",
		"guide.rst": "Frobs are the base of it, see RFC 4627 for all of them.",
	})
}

func TestNotesOfSources(t *testing.T) {
	const header = "/*\n * This file is part of Frob.\n *\n * (c) Jane Doe <jane@example.com>\n */\n"
	hold(t, build(t, `
-- composer.json --
{"name":"x/frob"}
-- src/Frobber.php --
<?php
`+header+`
namespace X;

use Y\Z;

/** Turns any number of widgets around at once. */
class Frobber { public function turn() {} }
-- src/A.php --
<?php
/* The widgets of this project are round. */

class A { public function a() {} }
-- src/B.php --
<?php
/* The widgets of this project are round. */

class B { public function b() {} }
-- src/C.php --
<?php
/* The widgets of this project are round. */

class C { public function c() {} }
-- src/D.php --
<?php
class One { public function d() {} }
class Two {}
function three() {}
`, scan.Origin{}, rank.Options{}), map[string]string{
		"src/Frobber.php": "Turns any number of widgets around at once.",
		"src/A.php":       "", "src/B.php": "", "src/C.php": "",
		"src/D.php": "`One`, `Two`, `three`",
	})
}

// A script whose name does not tell its language says what it does like any other.
func TestNotesOfScripts(t *testing.T) {
	hold(t, build(t, `
-- package.json --
{"name":"frob","bin":"bin/frob"}
-- bin/frob --
#!/bin/sh
# Turns any number of widgets around at once.
# usage: frob [FILE]
set -e
turn() { echo "$1"; }
`, scan.Origin{}, rank.Options{}), map[string]string{"bin/frob": "Turns any number of widgets around at once."})
}

func TestPublicAPI(t *testing.T) {
	hold(t, build(t, `
-- README.md --
# Frob

Frob is a library for widgets. Call `+"`z.widget()`"+` first.
-- package.json --
{"name":"frob","main":"./src/index.ts"}
-- src/index.ts --
export * from './frob'
-- src/frob.ts --
/** Turns the widgets that are given. */
export function turn(a: string): void;
/** Turns all. */
export function turn(a: number): void;
/** A secret that nobody needs to know. */
export function _hidden() {}
/** A type of the inside of things. */
export interface $Inner {}
/** Frobs what was not yet frobbed.
 * @deprecated use turn */
export function old() {}
/** Deprecated: it was used in earlier days. */
export function older() {}
export function widget() {}
export function other() {}
/** What can be set of a turn. */
export interface TurnOptions {}
/** What can be set of it all. */
export interface FrobOptions {}
/** Runs all of it. */
export function main() {}
/** Frob holds the state of it all. */
export class Frob {
  /** Returns the size of it. */
  getSize(): number { return 1 }
  /** Moves it to where it belongs. */
  move() {}
}
`, scan.Origin{}, rank.Options{}), map[string]string{
		"turn": "Turns the widgets that are given.", "_hidden": "-", "$Inner": "-", "older": "-", "widget": "", "other": "-",
		"TurnOptions": "-", "FrobOptions": "What can be set of it all.", "main": "-",
		"Frob": "Frob holds the state of it all.", "Frob.getSize": "-", "Frob.move": "Moves it to where it belongs.",
	})
}

func TestTypesStandBeforeFunctions(t *testing.T) {
	index := build(t, `
-- go.mod --
module example.com/frob
-- README.md --
# Frob

    w := frob.NewWidget()
-- a.go --
// Package frob is a library for widgets.
package frob

// Aaa does something to all widgets.
func Aaa() {}

// Maker makes [frob.Widget] of any size.
type Maker struct{}

// NewWidget makes a widget of its own.
func NewWidget() {}
`, scan.Origin{}, rank.Options{})
	if !strings.Contains(outline(index), "API: frob.NewWidget frob.Maker frob.Aaa\n") {
		t.Error(outline(index))
	}
	hold(t, index, map[string]string{"frob.Maker": "Maker makes `frob.Widget` of any size."})
}

func TestProgramsHaveNoAPI(t *testing.T) {
	const rust = "/// Turns the widgets that are given.\npub fn turn() {}\n"
	const c = "/* Turns the widgets that are given. */\nint turn(int x);\n"
	for name, archive := range map[string]string{
		"crate":   "-- Cargo.toml --\n[package]\nname = \"frob\"\n-- src/main.rs --\nmod a;\n-- src/a.rs --\n" + rust,
		"private": "-- package.json --\n{\"name\":\"x\",\"private\":true}\n-- a.js --\n/** Turns all the widgets. */\nexport function turn() {}\n",
		"command": "-- go.mod --\nmodule example.com/x\n-- main.go --\npackage main\n\n// Turn turns all the widgets.\nfunc Turn() {}\n",
		"binding": "-- pyproject.toml --\n[project]\nname = \"frob\"\n-- Cargo.toml --\n[package]\nname = \"frob\"\n" +
			"-- frob.py --\n" + strings.Repeat("x = 1\n", 40) + "-- src/lib.rs --\n" + rust,
		"script": "-- turn.py --\ndef main():\n    \"\"\"Turns all the widgets.\"\"\"\n",
		"inside": "-- include/frob.h --\nint a(void);\n-- src/detail.h --\n" + c,
	} {
		if got := outline(build(t, archive, scan.Origin{}, rank.Options{})); strings.Contains(got, "API:") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := outline(build(t, "-- include/frob.h --\n"+c, scan.Origin{}, rank.Options{})); !strings.Contains(got,
		"API: turn\n") {
		t.Errorf("a library's header: %s", got)
	}
}

func TestInstallIsOfTheEcosystem(t *testing.T) {
	for _, test := range []struct{ readme, file, manifest, want string }{
		{"npm init frob", "package.json", `{"name":"frob"}`, "npm install frob"},
		{"npm init frob\n    npm i frob\n", "package.json", `{"name":"frob"}`, "npm i frob"},
		{"npm i frobber", "package.json", `{"name":"frob"}`, "npm install frob"},
		{"", "package.json", `{"name":"frob","private":true}`, ""},
		{"brew install --HEAD frob", "CMakeLists.txt", "project(frob)", ""},
		{"brew install frob", "Cargo.toml", "[package]\nname = \"frob\"\n[[bin]]\nname = \"frob\"\npath = \"src/main.rs\"\n",
			"cargo install frob"},
		{"", "pyproject.toml", "[project]\nname = \"frob\"\n", "pip install frob"},
		{"", "go.mod", "module example.com/frob", "go get example.com/frob"},
		{"", "composer.json", `{"name":"x/frob"}`, "composer require x/frob"},
		{"", "pom.xml", "<project><groupId>a.b</groupId><artifactId>frob</artifactId><version>1.2</version></project>",
			"a.b:frob:1.2"},
	} {
		code := map[string]string{"go.mod": "-- a.go --\npackage frob\n"}[test.file]
		got := facts(build(t, fmt.Sprintf("-- README.md --\n# X\n\n    %s\n-- %s --\n%s\n%s", test.readme, test.file,
			test.manifest, code), scan.Origin{}, rank.Options{}))["Install"]
		if want := strings.TrimSuffix("`"+test.want+"`", "``"); got != want {
			t.Errorf("%s with %q: %s, want %s", test.file, test.readme, got, want)
		}
	}
}

func TestLinksToABranchHaveNoLines(t *testing.T) {
	index := build(t, `
-- package.json --
{"name":"frob","version":"1.2.3","repository":"github:x/frob","main":"a.js"}
-- a.js --
/** Turns all the widgets that there are. */
export function turn() {}
`, scan.Origin{}, rank.Options{})
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if strings.Contains(l.URL, "#") {
				t.Errorf("%s has a line", l.URL)
			}
		}
	}
	if l := find(index, "a.js"); len(l.Symbols) > 0 && l.Symbols[0].Line != 2 {
		t.Errorf("%+v", l.Symbols)
	}
	const want = "lead to the newest state of the default branch; the files read are version 1.2.3"
	if got := facts(index)["Links"]; got != want {
		t.Errorf("got %q", got)
	}
}

func TestHeadersOfCpp(t *testing.T) {
	const body = "namespace frob {\n/* Turns the widgets that are given. */\nint turn(int x);\n}\n"
	index := build(t, "-- CMakeLists.txt --\nproject(FROB)\n-- README.md --\n**{frob}** is a library for round widgets.\n"+
		"-- include/frob/frob.h --\n"+body, scan.Origin{}, rank.Options{})
	if got := facts(index)["Languages"]; got != "C++ 100 %" || index.Title != "{frob}" {
		t.Errorf("%q is in %s", index.Title, got)
	}
	index = build(t, "-- a.c --\nint a(void) { return 1; }\n-- a.h --\nextern int a(void);\n", scan.Origin{}, rank.Options{})
	if got := facts(index)["Languages"]; got != "C 100 %" {
		t.Errorf("C is told as %s", got)
	}
}

func TestEachFolderHasAPlace(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- composer.json --\n{\"name\":\"x/frob\"}\n")
	for i := range 30 {
		fmt.Fprintf(&b, "-- src/a/A%02d.php --\n<?php\nclass A%02d { public function f() { return new A%02d; } }\n", i, i, (i+1)%30)
	}
	b.WriteString("-- src/z/Zed.php --\n<?php\nclass Zed { public function f() { return 1; } }\n")
	if find(build(t, b.String(), scan.Origin{}, rank.Options{}), "src/z/Zed.php").Path == "" {
		t.Error("the only file of a folder is left out for the last of thirty")
	}
}

func TestSamplesOfTheDocsAreExamples(t *testing.T) {
	got := outline(build(t, `
-- CMakeLists.txt --
project(frob)
-- src/frob.c --
int frob(void) { return 1; }
-- docs/code/hello/main.c --
int main(void) { return 0; }
-- docs/code/CMakeLists.txt --
add_executable(hello hello/main.c)
`, scan.Origin{}, rank.Options{}))
	if !strings.Contains(got, "Examples: docs/code/hello/main.c\n") || strings.Contains(got, "Commands") {
		t.Error(got)
	}
}

func TestPublicClassesComeFirst(t *testing.T) {
	index := build(t, `
-- pom.xml --
<project><groupId>a.b</groupId><artifactId>frob</artifactId><version>1</version></project>
-- src/Aaa.java --
package a;
/** Turns the widgets inside of it all. */
final class Aaa { int turn() { return 1; } }
-- src/Bbb.java --
package a;
/** Turns the widgets for all of us. */
public class Bbb { public int turn() { return 1; } }
`, scan.Origin{}, rank.Options{})
	if !strings.Contains(outline(index), "Source: src/Bbb.java src/Aaa.java") {
		t.Error(outline(index))
	}
}

func TestPagesOfOthersAndOfPeopleAreLeftOut(t *testing.T) {
	const page = "# %s\n\nA page of some length that says a lot.\n\nAnd another sentence about it all.\n"
	var b strings.Builder
	for _, p := range []string{"deps/lua/guide.md", "internal/x/guide.md", "revdep/cran.md", "include/fmt/bundled/guide.md", "cran-comments.md",
		"man/rmd/select.Rmd", "Charter.md", "Release-Process.md",
		"Collaborator-Guide.md"} {
		fmt.Fprintf(&b, "-- %s --\n"+page, p, "Title of "+p)
	}
	fmt.Fprintf(&b, "-- lib/site_template/about.md --\n"+page, "Site")
	fmt.Fprintf(&b, "-- docs/_docs/file-operations.md --\n"+page, "File operations")
	if got := outline(build(t, b.String(), scan.Origin{}, rank.Options{})); got != "Docs: docs/_docs/file-operations.md\n" {
		t.Error(got)
	}
}
