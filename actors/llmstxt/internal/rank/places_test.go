package rank_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestPackagesMayBeCalledSamples defends "spring-petclinic links no Java file and lists functions of mvnw".
func TestPackagesMayBeCalledSamples(t *testing.T) {
	index := build(t, fixture(t, "packages_may_be_called_samples"), scan.Origin{}, rank.Options{})
	got := outline(index)
	for _, want := range []string{"samples/clinic/Clinic.java", "demo/bench/Lang.java"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not linked:\n%s", want, got)
		}
	}
	if strings.Contains(got, "mvnw") || strings.Contains(got, "native_path") || strings.Contains(got, "Helper") {
		t.Errorf("a wrapper or a test is linked:\n%s", got)
	}
	if l := facts(index)["Languages"]; !strings.HasPrefix(l, "Java") {
		t.Errorf("the language is %q", l)
	}
}

// TestReadmeBehindALink defends that the root README is not lost where it is a link to a package's README.
func TestReadmeBehindALink(t *testing.T) {
	root, repo := unpack(t, fixture(t, "readme_behind_a_link"))
	if err := os.Symlink("frob/README.md", filepath.Join(root.Name(), "README.md")); err != nil {
		t.Skip(err)
	}
	index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{}, nil)
	must(t, err)
	if got := outline(index); !strings.HasPrefix(got, "Docs: frob/README.md\nPackages: frob/src/lib.rs frob-core/src/lib.rs\n") {
		t.Error(got)
	}
	if index.Title != "frob" || index.Summary != "frob is a library for turning widgets." {
		t.Errorf("%q: %q", index.Title, index.Summary)
	}
}

// TestReadmeForTheHost defends the README that GitHub shows: the one in .github, before the one at the root.
func TestReadmeForTheHost(t *testing.T) {
	index := build(t, fixture(t, "readme_for_the_host"), scan.Origin{}, rank.Options{})
	if got := outline(index); !strings.HasPrefix(got, "Docs: .github/README.md") || index.Title != "Frob" {
		t.Errorf("%q: %s", index.Title, got)
	}
}

// A folder that the README links to, and for which no file of it stands, is linked as a folder.
func TestFoldersAreLinkedAsFolders(t *testing.T) {
	const archive = "-- README.md --\n# Frob\n\nFrob turns widgets. See the [recipes](recipes) and the [store](store/).\n" +
		"-- recipes/turn.md --\n# Turn\n\nHow to turn a widget around twice.\n-- recipes/stop.md --\n# Stop\n\nHow to stop a widget for good.\n" +
		"-- store/store.py --\nclass Store: pass\n-- store/file.py --\nimport store\n"
	origin := scan.ParseOrigin("https://github.com/o/frob.git", strings.Repeat("a", 40), "")
	urls := make(map[string]string)
	for _, s := range build(t, archive, origin, rank.Options{}).Sections {
		for _, l := range s.Links {
			urls[l.Path] = l.URL
		}
	}
	if got, want := urls["recipes/"], "https://github.com/o/frob/tree/"+origin.Commit+"/recipes/"; got != want {
		t.Errorf("the recipes are at %q, want %q", got, want)
	}
	if urls["store/"] != "" || urls["store/store.py"] == "" {
		t.Errorf("linked %v", urls)
	}
}

// What the product writes for others is not what it is written in.
func TestLanguageOfTemplates(t *testing.T) {
	app, program := strings.Repeat("export function app() {}\n", 50), strings.Repeat("func f() {}\n", 20)
	for archive, want := range map[string]string{
		"-- main.go --\npackage main\n" + program + "-- templates/app/app.ts --\n" + app: "Go 100 %",
		"-- templates/app/app.ts --\n" + app:                                             "TypeScript 100 %",
	} {
		if got := facts(build(t, archive, scan.Origin{}, rank.Options{}))["Languages"]; got != want {
			t.Errorf("%s: written in %q, want %q", archive[:20], got, want)
		}
	}
}

// A licence is known by its text. What the manifest says of the same ones says how they go together.
func TestLicenceByItsText(t *testing.T) {
	const (
		mit = "-- LICENSE-MIT --\nMIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy of this.\n"
		un  = "-- UNLICENSE --\nThis is free and unencumbered software released into the public domain.\n"
	)
	manifest := func(licence string) string {
		return "-- Cargo.toml --\n[package]\nname = \"frob\"\nlicense = \"" + licence + "\"\n"
	}
	for archive, want := range map[string]string{
		mit + un + manifest("Unlicense OR MIT"): "Unlicense OR MIT", mit + un: "MIT, Unlicense",
		mit + manifest("GPL-3.0"): "MIT", manifest("GPL-3.0"): "GPL-3.0",
	} {
		if got := facts(build(t, archive, scan.Origin{}, rank.Options{}))["Licence"]; got != want {
			t.Errorf("the licence of\n%s is %q, want %q", archive, got, want)
		}
	}
}
