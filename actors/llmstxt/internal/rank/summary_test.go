package rank_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// TestSummaryIsNoAdvice defends "a summary says what the thing is; never advice, install notes, licence text or
// pointers elsewhere", on what was printed for real repositories. A sentence far from the title or about another
// subject is no summary either.
func TestSummaryIsNoAdvice(t *testing.T) {
	const readme = "-- README.md --\n# Frob\n\n"
	for archive, want := range fatal.Table[map[string]string](t, "testdata/summaries.json") {
		if !strings.HasPrefix(archive, "-- ") { // the text of a README alone
			archive = readme + archive
		}
		if got := build(t, archive, scan.Origin{}, rank.Options{}).Summary; got != want {
			t.Errorf("%s\ngives %q, want %q", archive, got, want)
		}
	}
}

// The title is the project's, without pictures, frames and questions.
func TestTitle(t *testing.T) {
	picture := build(t, "-- README.md --\n[![The Frob-logo - light](frob.png)](x)\n\nTurns widgets.\n", scan.Origin{Repo: "frob"}, rank.Options{})
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
