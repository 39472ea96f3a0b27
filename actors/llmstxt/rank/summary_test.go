package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/repository/scan"
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
		readme + "The json class provides you with all that you need to know, see the wiki.\n":                                 "",
		readme + "Licensed under the terms of the MIT licence, of which a copy is in this folder.\n":                           "",
		"-- package.json --\n" + `{"name":"monorepo","private":true,"workspaces":["packages/*"]}` +
			"\n-- packages/frob/package.json --\n" + `{"name":"frob","description":"The even turner of widgets."}` +
			"\n-- packages/spoon/package.json --\n" + `{"name":"@frob/spoon","description":"A spoon for frob."}` + "\n-- README.md --\n# frob\n": "The even turner of widgets.",
	} {
		if got := build(t, archive, scan.Origin{}, rank.Options{}).Summary; got != want {
			t.Errorf("%s\ngives %q, want %q", archive, got, want)
		}
	}
}
