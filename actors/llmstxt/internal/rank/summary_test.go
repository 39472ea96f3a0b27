package rank_test

import (
	"fmt"
	"path/filepath"
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

// TestFactsAreThoseOfThePublishedPackage holds each fact to the package that one can install, or to silence: "dotnet
// add package Build" for Dapper sent an agent to a foreign package.
func TestFactsAreThoseOfThePublishedPackage(t *testing.T) {
	files, err := filepath.Glob("testdata/products/*.txtar") // the first line is what the index says
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no products")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive := fixture(t, "products/"+name)
		want, _, _ := strings.Cut(archive, "\n")
		index := build(t, archive, scan.Origin{Owner: "x", Repo: "Dapper"}, rank.Options{})
		got := facts(index)
		said := fmt.Sprintf("title %q, published %q, install %q", index.Title, got["Package"]+got["Module"], got["Install"])
		if said != want {
			t.Errorf("%s: %s, want %s", name, said, want)
		}
		if got["Commands"] != "" {
			t.Errorf("%s: names the commands %s, which it has not", name, got["Commands"])
		}
		if got["Version"] == "0.0.0" {
			t.Errorf("%s: the version of what nobody installs", name)
		}
	}
}

// TestNotesHaveNoResidue defends "residue (`](@id …)`, ` ```not_rust`, `2#`, licence headers) and warnings out of
// context got through".
func TestNotesHaveNoResidue(t *testing.T) {
	index := build(t, fixture(t, "notes_have_no_residue"), scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{
		"docs/grids.md":  "Grids are where widgets stand on their own, see Rows and Cells for all.",
		"docs/warned.md": "",
		"docs/list.md":   "",
		"docs/turn.md":   "Turns a widget as often as it is told to.",
		"docs/kit.md":    "", "docs/events.md": "", "docs/roles.md": "The turn decorator and frob.Widget belong together.",
		"docs/errors.md": "Errors say which widget failed, and why.",
		"docs/whole.rst": "Turns a widget as often as it is told to.",
		"docs/part.md":   "Routes lead widgets to where they belong.",
		"src/lib.rs":     "`turn`, `roll`", "src/numbered.rs": "`one`, `two`", "src/bsd.rs": "`three`, `four`",
	})
	for file, title := range map[string]string{"docs/grids.md": "Grids", "docs/part.md": "Part",
		"docs/list.md": "List", "docs/steps.md": "Steps"} {
		if got := find(index, file).Title; got != title {
			t.Errorf("%s is titled %q", file, got)
		}
	}
	for file, want := range map[string]string{"docs/api.rst": "the API of `frob.align`", "docs/steps.md": "Take a widget by both of its ends."} {
		if got := find(index, file).Contents; got != want {
			t.Errorf("%s holds %q", file, got)
		}
	}
}

func TestNotesOfManuals(t *testing.T) {
	index := build(t, fixture(t, "notes_of_manuals"), scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{"man/frob.1": "turns widgets around", "man/bsd.8": "serves widgets to others",
		"lib/Frob.pod": "an object for a widget", "man/frob.3": "turning of widgets in C",
		"docs/frob.yml.adoc": "what is known of the widgets of a project"})
	for file, title := range map[string]string{"man/frob.1": "frob(1)", "man/bsd.8": "bsd(8)", "lib/Frob.pod": "Frob::Widget"} {
		if got := find(index, file).Title; got != title {
			t.Errorf("%s is titled %q", file, got)
		}
	}
}

// The README's own line installs, if it names the project and is no placeholder.
func TestOtherInstalls(t *testing.T) {
	for _, test := range []struct{ repo, code, want string }{
		{"frob", "helm repo add o https://o.example/charts\nhelm repo update\nhelm install frob o/frob", "helm repo add o https://o.example/charts && helm install frob o/frob"},
		{"frob", "$ brew install o/tap/frob", "brew install o/tap/frob"},
		{"frob", "brew install frobnicate", ""},
		{"frob", "brew install --HEAD frob", ""},
		{"frob", "brew tap o/tap\nbrew install frob", "brew tap o/tap && brew install frob"},
		{"frob", "dotnet add package frob --version 1.2.3", "dotnet add package frob"},
		{"frob", "helm install frob oci://ghcr.io/o/frob --version 1.2.3", "helm install frob oci://ghcr.io/o/frob"},
		{"frob", `id("io.frob.frob") version "1.0.3"`, `id("io.frob.frob") version "1.0.3"`},
		{"frob", "sudo apt -y install frob\nbrew install frob", ""},
		{"frob", "compile 'org.o:frob:1.2'", "org.o:frob:1.2"},
		{"frob", "dotnet tool install --global Frob", "dotnet tool install --global Frob"},
		{"frob", "{:frob, \"~> 1.2\"}", "{:frob, \"~> 1.2\"}"},
		{"frob", ".package(url: \"https://github.com/o/frob.git\", from: \"1.2.0\"),", ".package(url: \"https://github.com/o/frob.git\", from: \"1.2.0\")"},
		{"frob", "implementation(\"org.o:frob:1.2\")", "implementation(\"org.o:frob:1.2\")"},
		{"frob", "implementation(\"org.o:frob:$version\")", ""},
		{"frob", "<dependency>\n  <groupId>org.o</groupId>\n  <artifactId>frob</artifactId>\n  <version>1.2</version>\n</dependency>", "org.o:frob:1.2"},
		{"frob", "<groupId>org.o</groupId>\n<artifactId>frob</artifactId>\n<version>VERSION</version>", ""},
		{"terraform-aws-vpc", "module \"vpc\" {\n  source = \"o/vpc/aws\"\n}", "source = \"o/vpc/aws\""},
		{"terraform-provider-frob", "source = \"o/frob\"", "source = \"o/frob\""},
		{"terraform-aws-vpc", "source = \"../..\"", ""},
		{"frob", "npm install frob@version", ""},
	} {
		index := build(t, "-- README.md --\n# Frob\n\n```\n"+test.code+"\n```\n", scan.Origin{Host: "github.com", Owner: "o", Repo: test.repo}, rank.Options{})
		got := ""
		for _, f := range index.Facts {
			if f.Name == "Install" {
				got = f.Value
			}
		}
		if test.want != "" {
			test.want = "`" + test.want + "`"
		}
		if got != test.want {
			t.Errorf("%s, %q: %q, want %q", test.repo, test.code, got, test.want)
		}
	}
}
