package rank_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// pages are about their sections in words alone: neither folders nor file names tell.
const pages = `
-- q/a1.md --
# Getting started

Frob is begun with in a few minutes by anybody.
-- q/a2.md --
# How to frob a widget

A widget is frobbed by those who hold it firmly.
-- q/a3.md --
# The architecture of Frob

Three layers stand on one another in this house.
-- q/a4.md --
# Environment variables

Frob heeds what its surroundings tell it to do.
-- q/a5.md --
# Running Frob in production

Frob wants a disk and a port of its own there.
-- q/a6.md --
# Frobber

The object through which all of it is done.

## new Frobber(options)

## frobber.start()

## frobber.stop()
-- q/a9.md --
# Widgets

Widgets are round or square, and they are heavy.
-- q/b1.md --
# Examples

Two short programs that show how it is done well.

` + "```\na\n```\n\n```\nb\n```" + `
-- q/run.yaml --
apiVersion: apps/v1
kind: Deployment
`

func TestSectionsByWhatPagesSay(t *testing.T) {
	const want = `Docs: q/a1.md q/a9.md
Tutorials: q/a2.md
API: q/a6.md
Concepts: q/a3.md
Configuration: q/a4.md
Operations: q/a5.md q/run.yaml
Examples: q/b1.md
`
	index := build(t, pages, scan.Origin{}, rank.Options{})
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if len(l.Reasons) == 0 || l.Score == 0 {
				t.Errorf("%s has the score %d for no reason", l.Path, l.Score)
			}
		}
	}
}

const project = `
-- README.md --
# Frob

Frob is a library for widgets. It comes with a command.

    import { Frobber } from "frob"
-- package.json --
{"name":"frob","version":"1.2.0","description":"Frobs widgets","main":"./one/two/entry.js","bin":{"frob":"one/cli.js"},"scripts":{"test":"node --test","build":"tsc"}}
-- one/two/entry.js --
// Where everything is begun from, by whoever imports it.
export * from './Frobber.js'
-- one/two/Frobber.js --
/** Frobs any number of widgets at the same time. */
export class Frobber {}
-- one/two/more.js --
/* eslint-disable */
// TODO: say what this does one day, if ever
import { Frobber } from './Frobber.js'
export function more() {}
-- one/cli.js --
#!/usr/bin/env node
// Runs the frobbing of widgets from a shell.
import './two/entry.js'
-- lib/helper.py --
"""Draws the pictures for the handbook of widgets."""
def draw(): pass
-- three/handbook/intro.md --
# Handbook

Widgets are frobbed by turning them around twice.
-- three/handbook/flags.md --
---
title: Flags of frob
description: Every flag that the command has.
---
-- four/mod/go.mod --
module example.com/mod
-- four/mod/inner/inner.go --
// Package inner turns widgets into others of their kind.
package inner

// Turn turns one widget.
func Turn() {}
-- four/mod/tool/main.go --
// Tool prints what the others have made of a widget.
package main
`

// TestFoldersNamesDoNotCount renames every folder to random words: what the whole is for stays, and so does the note
// of each file that is still linked.
func TestFoldersNamesDoNotCount(t *testing.T) {
	before := build(t, project, scan.Origin{}, rank.Options{})
	notes := notesOf(before)
	if len(notes) < 7 {
		t.Fatalf("only %d notes to compare: %v", len(notes), notes)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		names := make(map[string]string)
		renamed := rename(project, func(folder string) string {
			if names[folder] == "" {
				names[folder] = word(random)
			}
			return names[folder]
		})
		after := build(t, renamed, scan.Origin{}, rank.Options{})
		if after.Summary != before.Summary || after.Title != before.Title {
			t.Fatalf("the purpose became %q: %q", after.Title, after.Summary)
		}
		kept := 0
		for file, note := range notesOf(after) {
			if want, ok := notes[file]; ok && note != want {
				t.Errorf("the note of %s became %q, it was %q (%v)", file, note, want, names)
			}
			kept++
		}
		if kept < len(notes)-2 {
			t.Errorf("%d of %d links are left with %v", kept, len(notes), names)
		}
	}
}

// notesOf gives the notes by base name: those of the project differ.
func notesOf(index *rank.Index) map[string]string {
	notes := make(map[string]string)
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if s.Name != "API" && l.Note != "" {
				notes[path.Base(l.Path)] = l.Note
			}
		}
	}
	return notes
}

func rename(archive string, name func(string) string) string {
	a := txtar.Parse([]byte(archive))
	for i, f := range a.Files {
		parts := strings.Split(f.Name, "/")
		for j := range parts[:len(parts)-1] {
			parts[j] = name(strings.Join(parts[:j+1], "/"))
		}
		a.Files[i].Name = strings.Join(parts, "/")
	}
	return string(txtar.Format(a))
}

// word is no name that any tool gives a folder.
func word(random *rand.Rand) string {
	var b strings.Builder
	for range 4 + random.IntN(8) {
		b.WriteByte(byte('a' + random.IntN(26)))
	}
	return b.String() + "q"
}

func TestEntryPointsComeFirst(t *testing.T) {
	index := build(t, project, scan.Origin{}, rank.Options{})
	want := map[string]string{
		"Source":   "one/two/entry.js one/two/Frobber.js",
		"Commands": "four/mod/tool/main.go one/cli.js",
	}
	for section, paths := range want {
		if !strings.Contains(outline(index), section+": "+paths) {
			t.Errorf("%s is not %s in\n%s", section, paths, outline(index))
		}
	}
	reasons := fmt.Sprint(find(index, "one/two/entry.js").Reasons, find(index, "one/two/Frobber.js").Reasons)
	for _, want := range []string{"entry point in package.json", "used by 2 files", "used by the README's code"} {
		if !strings.Contains(reasons, want) {
			t.Errorf("%q is not among %s", want, reasons)
		}
	}
	if l := find(index, "one/two/more.js"); l.Note != "" || l.Title != "one/two/more.js" {
		t.Errorf("a bad note: %+v", l)
	}
}

func TestFactsAnAgentCanUse(t *testing.T) {
	facts := make(map[string]string)
	for _, f := range build(t,
		project+"-- LICENSE --\nPermission is hereby granted, free of charge, to any person obtaining a copy\n",
		scan.Origin{}, rank.Options{}).Facts {
		facts[f.Name] = f.Value
	}
	for name, want := range map[string]string{
		"Package": "frob (npm)", "Version": "1.2.0", "Commands": "`frob`", "Licence": "MIT",
		"Scripts": "build: `tsc`, test: `node --test`",
	} {
		if facts[name] != want {
			t.Errorf("%s is %q, want %q", name, facts[name], want)
		}
	}
}

func TestMembersOfAWorkspace(t *testing.T) {
	index := build(t, `
-- package.json --
{"private":true,"workspaces":["pkgs/*","!pkgs/hidden","playground/**"]}
-- pkgs/core/package.json --
{"name":"@x/core","description":"The heart of it all, which the others need","main":"index.js"}
-- pkgs/core/index.js --
export const a = 1
-- pkgs/cli/package.json --
{"name":"@x/cli","dependencies":{"@x/core":"*"}}
-- pkgs/cli/README.md --
# The command

Runs the heart of it all from a shell.
-- pkgs/hidden/package.json --
{"name":"@x/hidden"}
-- playground/json/dep/package.json --
{"name":"@x/dep"}
-- site/package.json --
{"name":"site"}
`, scan.Origin{}, rank.Options{})
	var got []string
	for _, l := range index.Sections[0].Links {
		got = append(got, l.Title+" | "+l.Path+" | "+l.Note)
	}
	want := []string{"@x/core | pkgs/core/index.js | The heart of it all, which the others need",
		"@x/cli | pkgs/cli/README.md | Runs the heart of it all from a shell."}
	if index.Sections[0].Name != "Packages" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %s\n%q\nwant\n%q", index.Sections[0].Name, got, want)
	}
	got = strings.Fields(section(build(t, `
-- Cargo.toml --
[package]
name = "frob"
[workspace]
members = ["frob-extra"]
-- src/lib.rs --
pub mod turn;
-- frob-extra/Cargo.toml --
[package]
name = "frob-extra"
-- frob-extra/src/lib.rs --
pub mod more;
`, scan.Origin{}, rank.Options{}), "Packages"))
	if want := []string{"src/lib.rs", "frob-extra/src/lib.rs"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a published root and its member: %q, want %q", got, want)
	}
}

func TestNoNoiseIsLinked(t *testing.T) {
	index := build(t, `
-- README.md --
# Frob

Frob is a library for widgets.
-- package-lock.json --
{}
-- src/index.ts --
export class A {}
-- index.js --
class A {}
-- index.d.ts --
export class A {}
-- src/v3/index.ts --
export class B { old = 1 }
-- src/v4/index.ts --
export class B { young = 1 }
-- src/checks.ts --
import { it } from 'vitest'
describe('x', () => {})
-- src/same.ts --
export class A {}
-- eslint.config.js --
module.exports = []
-- .github/workflows/ci.yml --
on: push
-- .github/ISSUE_TEMPLATE/bug.md --
# Bug

Tell us what has gone wrong with it.
-- CODE_OF_CONDUCT.md --
# Contributor Covenant

We are kind to one another in this project.
-- docs/LICENSE --
MIT
-- fixtures/a.md --
# Fixture

A page that a test reads and nobody else.
-- tests/test_a.py --
x = 1
`, scan.Origin{}, rank.Options{})
	const want = "Docs: README.md\nSource: src/index.ts src/v4/index.ts src/v3/index.ts\n"
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestEveryLinkIsAFile(t *testing.T) {
	for name, archive := range map[string]string{"pages": pages, "project": project} {
		root, repo := unpack(t, archive)
		index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, s := range index.Sections {
			for _, l := range s.Links {
				if info, err := root.Stat(l.Path); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %s is linked: %v", name, l.Path, err)
				}
				if seen[l.URL] {
					t.Errorf("%s: %s is linked twice", name, l.URL)
				}
				seen[l.URL] = true
			}
		}
	}
}

// TestSidebarsGiveTheOrder defends "sites are not ordered by their sidebars".
func TestSidebarsGiveTheOrder(t *testing.T) {
	const pages = `
-- docs/alpha.md --
# Alpha

Alpha turns the widgets of the first shelf.
-- docs/beta/index.md --
# Beta

Beta turns the widgets of the second shelf.
-- docs/gamma.md --
Gamma turns the widgets of the third shelf.
`
	for name, text := range map[string]string{
		"mkdocs.yml":       "nav:\n  - Third: gamma.md\n  - Second: beta/index.md\n  - First: alpha.md\n",
		"sidebars.js":      "module.exports = {docs: ['gamma', {label: 'More', items: ['beta/index', 'alpha']}]}\n",
		"docs/_sidebar.md": "- [Third](gamma.md)\n- [Second](beta/index.md)\n- [First](alpha.md)\n",
		"docs/.vitepress/config.ts": "export default {nav: [{link: '/alpha'}],\n sidebar: {'/': [{text: 'Third', link: '/gamma'},\n" +
			"{text: 'Second', link: '/beta/'}, {link: '/alpha'}]}}\n",
		"docs/unrelated.yml": "alpha: true\n",
	} {
		want := "Docs: docs/gamma.md docs/beta/index.md docs/alpha.md"
		if name == "docs/unrelated.yml" {
			want = "Docs: docs/alpha.md docs/gamma.md docs/beta/index.md"
		}
		index := build(t, pages+"-- "+name+" --\n"+text, scan.Origin{}, rank.Options{})
		if got := outline(index); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
		title := "docs/gamma.md"
		if strings.Contains(text, "- Third:") || strings.Contains(text, "- [Third]") {
			title = "Third"
		}
		if got := find(index, "docs/gamma.md").Title; got != title {
			t.Errorf("%s: a page without a title is titled %q, want %q", name, got, title)
		}
	}
}
