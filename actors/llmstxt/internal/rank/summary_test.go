package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestSummaryIsNoAdvice defends "a summary says what the thing is; never advice, install notes, licence text or
// pointers elsewhere", on what was printed for real repositories.
func TestSummaryIsNoAdvice(t *testing.T) {
	const readme = "-- README.md --\n# Frob\n\n"
	for archive, want := range map[string]string{
		readme + "Frob is a DSL for quickly turning widgets in Ruby with minimal effort:\n\n```ruby\nturn\n```\n\n" +
			"The code you changed will not take effect until you restart the server.\n": "Frob is a DSL for quickly turning widgets in Ruby with minimal effort.",
		readme + "For guides, articles, and API documentation see the library's documentation on the Web.\n":                   "",
		readme + "The complete solution for turning widgets.\n\n## Use\n\nFrob exports a global object which is convenient.\n": "The complete solution for turning widgets.",
		readme + "A small and scalable turning solution using widgets. Has a comfy API based on hooks.\n":                      "A small and scalable turning solution using widgets.",
		readme + "For questions and support please use the official forum or community chat.\n":                                "",
		readme + "Every API function (documented in the manual) has a corresponding standalone example file.\n":                "",
		readme + "Frob is a turner built with Maven. Java 17 or later is required for the build.\n":                            "Frob is a turner built with Maven.",
		readme + "Please follow the documentation!\n-- package.json --\n" + `{"name":"frob","description":"Turn a widget"}`:    "Turn a widget",
		"-- README.md --\n# Frob: an even turner of widgets\n\n## Install\n\nRun the installer first.\n":                       "an even turner of widgets",
		readme + "See the manual of widgets first.\n\n## Use\n\nPlease turn one widget at a time.\n\n" +
			"Never turn the widget of another.\n\n## Pairs\n\nHelper functions for pairs of widgets.\n-- package.json --\n" +
			`{"name":"frob","description":"Spindle based turner for widgets"}`: "Spindle based turner for widgets",
		readme + "In addition, Frob is highly extensible via its Plugin API.\n":                                             "",
		readme + "A global documentation for the project is available at docs.frob.example.\n":                              "",
		readme + "This codebase was created to demonstrate an even turner of widgets.\n":                                    "This codebase was created to demonstrate an even turner of widgets.",
		readme + "The json class provides you with all that you need to know, see the wiki.\n":                              "",
		readme + "Licensed under the terms of the MIT licence, of which a copy is in this folder.\n":                        "",
		readme + "## How to start\n\nClick the button of the widget to create a new widget.\n":                              "",
		readme + "A number of other turners are available -- see the list of widgets.\n":                                    "",
		readme + "Turners are for learning purposes only. They may be less even than the turner in the standard library.\n": "",
		"-- README.md --\n# FrobJSON\n\nFrobJSON makes it easy to turn widgets.\n\n## Why\n\nFrob is very strict about types " +
			"of widgets, which is painful.\n": "FrobJSON makes it easy to turn widgets.",
		readme + "Widget and turner manager for the [Frob language](frob.html).\n\n## Use\n\nSee it.\n\n## Developers\n\nThis repository contains a configuration " +
			"for a tool which makes it easy to set up.\n": "Widget and turner manager for the Frob language.",
		readme + "This project aims at turning widgets. It goes with the second edition of the book [Turning even the widgets of " +
			"others](https://frob.example):\n": "This project aims at turning widgets.",
		readme + "A turner with a lever. Documentation\n":                                                       "A turner with a lever.",
		readme + "Frob is a package for turning beautiful widgets.\n\nIt aims to make turning quick and fun.\n": "Frob is a package for turning beautiful widgets.",
		readme + "Frob is a fast turner in Go featuring:\n\n- widgets\n":                                        "Frob is a fast turner in Go.",
		readme + "Update of November: the Frob library has a cousin called the Better Frob library.\n":          "",
		readme + "- [Module documentation with examples](a.html).\n- [Build](b.html)\n\nThis crate provides routines for turning widgets of any " +
			"size and colour in place. The widgets that it supports are like the ones that other turners support, but not all of them, " +
			"and some are only turned slowly, which may be too slow for large ones.\n": "This crate provides routines for turning widgets of any " +
			"size and colour in place. The widgets that it supports are like the ones that other turners support, but not all of them, " +
			"and some are only turned slowly, which may be too slow for large ones.",
		readme + "Please right-click on the button of the widget with the page.\n":                                                "",
		"-- README.md --\n<p>\n<b>Even</b> turn<i>stile</i>s for widgets \U0001F9D1\u200d\U0001F4BB\n</p>\n\n## Use\n\nSee it.\n": "Even turnstiles for widgets",
		"-- README.md --\n<h3>A simple turner for widgets</h3>\n\n## Use\n\nSee it.\n":                                            "A simple turner for widgets",
		readme + "\U0001F389 A turner with a lever for widgets.\n":                                                                "A turner with a lever for widgets.",
		"-- README.md --\n# Turn Frob Widget\n\n## How\n\nSee it.\n\n## Use\n\nThe Widget is a resource that one can turn.\n":     "", // far from the title
		readme + "**Even Turner** is a first-class demo application.\n\nFrob uses this application to turn widgets on the web.\n\n" +
			"This application works on any widget.\n": "", // the subject is another thing
		readme + "This repository is no longer supported, please consider the other module for turning.\n":                                                                             "",
		"-- go.mod --\nmodule example.com/frob\n-- main.go --\n// Package main provides the entry point for the Frob program.\npackage main\n":                                         "",
		readme + "## Use\n\nSee it.\n-- package.json --\n" + `{"name":"frob","description":"Frob"}`:                                                                                    "",
		readme + "## How\n\nThe tool expects some words for each widget.\n-- package.json --\n" + `{"name":"frob","description":"Turn all widgets and print their tables for charts"}`: "Turn all widgets and print their tables for charts",
		readme + "Charts in this repository may be signed, and widgets need not be.\n":                                                                                                 "",
		readme + "A role that installs the [turner](https://frob.example) on Linux.\n\n## Variables\n\nThe state of the turner. The turner will " +
			"be restarted. This is a side effect of turning all widgets.\n": "A role that installs the turner on Linux.",
		"-- README.md --\n<div align=\"center\">\n<h2>\nAn even spindle driven widget turnstile.\n</h2>\n</div>\n\n## Use\n\nWe'll be adding a plugin for the package in the " +
			"future.\n": "An even spindle driven widget turnstile.",
		"-- package.json --\n" + `{"name":"monorepo","private":true,"workspaces":["packages/*"]}` +
			"\n-- packages/frob/package.json --\n" + `{"name":"frob","description":"The even turner of widgets."}` +
			"\n-- packages/spoon/package.json --\n" + `{"name":"@frob/spoon","description":"A spoon for frob."}` + "\n-- README.md --\n# frob\n": "The even turner of widgets.",
	} {
		if got := build(t, archive, scan.Origin{}, rank.Options{}).Summary; got != want {
			t.Errorf("%s\ngives %q, want %q", archive, got, want)
		}
	}
}

// The title is the project's, without pictures, frames and questions.
func TestTitle(t *testing.T) {
	picture := build(t, "-- README.md --\n[![The Frob logo](frob.png)](x)\n\nTurns widgets.\n", scan.Origin{Repo: "frob"}, rank.Options{})
	build(t, "-- README.md --\n![Frob](frob.png)\n", scan.Origin{}, rank.Options{}) // no name to compare with
	if picture.Title != "The Frob" {
		t.Errorf("the picture gives the title %q", picture.Title)
	}
	written := build(t, "-- README.md --\n# Widgets for everybody\n\nFROB turns any number of widgets.\n", scan.Origin{Repo: "frob"}, rank.Options{})
	if written.Title != "FROB" {
		t.Errorf("a slogan above a text about FROB gives the title %q", written.Title)
	}
	for heading, want := range map[string]string{
		"Frob \u26a1": "Frob", "What is FROB? \u2728": "FROB", "Welcome to Frob": "Frob", "Frob :heart:": "Frob",
		"Why turn widgets?": "frob", "README": "frob", "frob is unmaintained, use turn instead.": "frob", "Donations": "frob", "Website": "frob", "Repository": "frob",
		"Frob 15.0.0": "Frob", "Frob 4": "Frob 4",
	} {
		archive := "-- README.md --\n# " + heading + "\n\nTurns widgets.\n-- package.json --\n" + `{"name":"frob"}`
		if got := build(t, archive, scan.Origin{}, rank.Options{}).Title; got != want {
			t.Errorf("%q gives the title %q, want %q", heading, got, want)
		}
	}
}

// A workspace without a README at its top shows the README of the package with its name, or with its owner's scope.
func TestReadmeOfTheLead(t *testing.T) {
	for _, name := range []string{"frob-turn", "@frobjs/turn"} {
		archive := "-- package.json --\n" + `{"name": "mono", "private": true, "workspaces": ["packages/*"]}` + "\n-- packages/a/package.json --\n" +
			`{"name": "a", "version": "1.2.3"}` + "\n-- packages/a/README.md --\n# A\n-- packages/turn/package.json --\n{\"name\": \"" + name +
			"\", \"version\": \"1.2.3\"}\n-- packages/turn/README.md --\n# Frob Turn\n\nFrob Turn is a library for widgets.\n"
		index := build(t, archive, scan.Origin{Owner: "frobjs", Repo: "frob-turn"}, rank.Options{})
		if index.Title != "Frob Turn" || index.Readme != "packages/turn/README.md" {
			t.Errorf("%s: %q of %s", name, index.Title, index.Readme)
		}
	}
}
