package rank_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

const page = "# A\n\nIt says something of some length.\n"

func TestLinksArePinnedToTheCommit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	const tail = commit + "/docs/a%20b.md"
	for remote, want := range map[string][2]string{
		"git@github.com:o/r.git": {"https://github.com/o/r/blob/" + tail, "https://raw.githubusercontent.com/o/r/" + tail},
		"https://github.example.com/o/r": {"https://github.example.com/o/r/blob/" + tail,
			"https://github.example.com/o/r/raw/" + tail},
		"https://code.gitlab-ee.example.com/o/r": {"https://code.gitlab-ee.example.com/o/r/-/blob/" + tail,
			"https://code.gitlab-ee.example.com/o/r/-/raw/" + tail},
		"https://forgejo.example.com/o/r": {"https://forgejo.example.com/o/r/src/commit/" + tail,
			"https://forgejo.example.com/o/r/raw/commit/" + tail},
		"https://gitlab.com/g/s/r":  {"https://gitlab.com/g/s/r/-/blob/" + tail, "https://gitlab.com/g/s/r/-/raw/" + tail},
		"https://bitbucket.org/o/r": {"https://bitbucket.org/o/r/src/" + tail, "https://bitbucket.org/o/r/raw/" + tail},
		"https://codeberg.org/o/r": {"https://codeberg.org/o/r/src/commit/" + tail,
			"https://codeberg.org/o/r/raw/commit/" + tail},
		"https://git.sr.ht/~o/r": {"https://git.sr.ht/~o/r/tree/" + commit + "/item/docs/a%20b.md",
			"https://git.sr.ht/~o/r/blob/" + tail},
		"https://chromium.googlesource.com/o/r": {"https://chromium.googlesource.com/o/r/+/" + tail,
			"https://chromium.googlesource.com/o/r/+/" + tail},
		"/srv/git/r": {"docs/a%20b.md", "docs/a%20b.md"},
	} {
		for i, style := range []string{"blob", "raw"} {
			index := build(t, "-- docs/a b.md --\n"+page, scan.ParseOrigin(remote, commit, ""), rank.Options{LinkStyle: style})
			if got := index.Sections[0].Links[0].URL; got != want[i] {
				t.Errorf("%s, %s: %s, want %s", remote, style, got, want[i])
			}
		}
	}
}

// A link in the form of another host's would lead nowhere.
func TestLinksToHostsWhoseFormIsNotKnown(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, remote := range []string{"https://git.example.com/o/r", "https://dev.azure.com/org/project/_git/r",
		"https://gist.github.com/o/0123456789abcdef", "https://bitbucket.example.com/scm/o/r"} {
		for base, want := range map[string]string{"": "a.md", "https://x.example/r": "https://x.example/r/a.md"} {
			origin := scan.ParseOrigin(remote, commit, "")
			index := build(t, "-- a.md --\n"+page, origin, rank.Options{BaseURL: base})
			if got := find(index, "a.md").URL; got != want {
				t.Errorf("%s with the base %q: %s, want %s", remote, base, got, want)
			}
			for _, fact := range []rank.Fact{{"Repository", origin.Remote}} {
				if origin.Remote == "" || !slices.Contains(index.Facts, fact) {
					t.Errorf("%s: no %v in %v", remote, fact, index.Facts)
				}
			}
		}
	}
}

// TestLinksWithoutACommit has the bases in the order in which they count.
func TestLinksWithoutACommit(t *testing.T) {
	manifest := func(text string) string { return "-- package.json --\n" + text + "\n" }
	tests := []struct {
		name, archive, version, base, want string
	}{
		{"module and version", "-- go.mod --\nmodule github.com/o/r/v2\n", "v2.1.0", "https://x.example",
			"https://github.com/o/r/blob/v2.1.0/a.md"},
		{"module in a folder", "-- go.mod --\nmodule github.com/o/r/sub/dir\n", "v0.1.0", "",
			"https://github.com/o/r/blob/sub/dir/v0.1.0/sub/dir/a.md"},
		{"pseudo-version", "-- go.mod --\nmodule github.com/o/r\n", "v0.0.0-20250102030405-0123456789ab", "",
			"https://github.com/o/r/blob/0123456789ab/a.md"},
		{"incompatible", "-- go.mod --\nmodule github.com/o/r\n", "v3.0.0+incompatible", "",
			"https://github.com/o/r/blob/v3.0.0/a.md"},
		{"golang.org/x", "-- go.mod --\nmodule golang.org/x/mod\n", "v0.3.0", "",
			"https://github.com/golang/mod/blob/v0.3.0/a.md"},
		{"gopkg.in", "-- go.mod --\nmodule gopkg.in/yaml.v3\n", "v3.0.1", "", "https://github.com/go-yaml/yaml/blob/v3.0.1/a.md"},
		{"a host unknown", "-- go.mod --\nmodule go.example.org/r\n", "v1.0.0", "", "a.md"},
		{"no version", "-- go.mod --\nmodule github.com/o/r\n", "", "https://x.example/r", "https://x.example/r/a.md"},
		{"manifest", manifest(`{"name":"r","repository":"o/r"}`), "", "https://x.example",
			"https://github.com/o/r/blob/HEAD/a.md"},
		{"pinned and in a folder", manifest(`{"name":"r","gitHead":"0123456789abcdef0123456789abcdef01234567",
			"repository":{"url":"git+https://github.com/o/mono.git","directory":"packages/r"}}`), "", "",
			"https://github.com/o/mono/blob/0123456789abcdef0123456789abcdef01234567/packages/r/a.md"},
		{"home page on a forge", manifest(`{"name":"r","homepage":"https://gitlab.com/o/r"}`), "", "",
			"https://gitlab.com/o/r/-/blob/HEAD/a.md"},
		{"home page elsewhere", manifest(`{"name":"r","homepage":"https://r.example/docs/intro"}`), "", "", "a.md"},
		{"manifest with a host unknown", manifest(`{"name":"r","repository":"https://git.example.com/o/r"}`), "",
			"https://x.example", "https://x.example/a.md"},
		{"base", "", "", "https://x.example/r/", "https://x.example/r/a.md"},
		{"nothing", "", "", "", "a.md"},
	}
	for _, test := range tests {
		index := build(t, test.archive+"-- a.md --\n"+page, scan.Origin{Version: test.version}, rank.Options{BaseURL: test.base})
		if got := find(index, "a.md").URL; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestLinesHaveTheHostsAnchors(t *testing.T) {
	const archive = "-- go.mod --\nmodule m.example/x\n-- x.go --\n// Package x counts.\npackage x\n\n// Counter counts what it is given.\ntype Counter int\n"
	for remote, want := range map[string]string{
		"https://github.com/o/r":    "https://github.com/o/r/blob/0123456789abcdef/x.go#L5",
		"https://bitbucket.org/o/r": "https://bitbucket.org/o/r/src/0123456789abcdef/x.go#lines-5",
		"":                          "x.go#L5",
	} {
		index := build(t, archive, scan.ParseOrigin(remote, "0123456789abcdef", ""), rank.Options{})
		for _, s := range index.Sections {
			if s.Name == "API" && (len(s.Links) != 1 || s.Links[0].URL != want || s.Links[0].Title != "x.Counter") {
				t.Errorf("%q: %+v, want %s", remote, s.Links, want)
			}
		}
		if symbols := find(index, "x.go").Symbols; len(symbols) != 1 || symbols[0].URL != want {
			t.Errorf("%q: symbols %+v", remote, symbols)
		}
	}
}

// "A page without a certain URL keeps its forge link."
func TestLinksToTheSite(t *testing.T) {
	var archive strings.Builder
	archive.WriteString("-- mkdocs.yml --\nsite_url: https://frob.example/en/\n-- frob.py --\n" + `"""Turns widgets."""` + "\n")
	for _, name := range []string{"index", "start", "guide/turn", "guide/index"} {
		archive.WriteString("-- docs/" + name + ".md --\n# " + name + "\n\nIt tells of " + name + " at some length.\n")
	}
	origin := scan.ParseOrigin("https://github.com/o/r", "0123456789abcdef0123456789abcdef01234567", "")
	index := build(t, archive.String(), origin, rank.Options{LinkStyle: rank.StyleSite})
	if want := (rank.Home{URL: "https://frob.example/en", From: "mkdocs.yml"}); index.Site != want {
		t.Errorf("the site is %+v", index.Site)
	}
	for file, want := range map[string]string{"docs/start.md": "https://frob.example/en/start/", "docs/guide/turn.md": "https://frob.example/en/guide/turn/",
		"docs/guide/index.md": "https://frob.example/en/guide/", "frob.py": index.Origin.Remote + "/blob/" + origin.Commit + "/frob.py"} {
		if got := find(index, file).URL; got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// The site is proposed, and taken by the style auto, only if a second file names it.
func TestWhereTheSiteIs(t *testing.T) {
	const pages = "-- docs/a.md --\n# A\n\nAbout a.\n-- docs/b.md --\n# B\n\nAbout b.\n-- docs/c.md --\n# C\n\nAbout c.\n-- docs/d.md --\n# D\n\nAbout d.\n"
	origin := scan.ParseOrigin("https://github.com/o/r", "0123456789abcdef0123456789abcdef01234567", "")
	for _, test := range []struct{ files, from, witness, url string }{
		{"-- mkdocs.yml --\nsite_url: https://frob.example/en/\n-- README.md --\nSee [docs](https://frob.example/en/a/).\n", "mkdocs.yml", "README.md", "https://frob.example/en/a/"},
		{"-- mkdocs.yml --\nsite_name: Frob\n-- docs/CNAME --\nfrob.example\n-- package.json --\n{\"name\":\"frob\",\"homepage\":\"https://frob.example\"}\n", "docs/CNAME", "package.json", "https://frob.example/a/"},
		{"-- docs.json --\n{\"navigation\":[{\"group\":\"All\",\"pages\":[\"docs/a\",\"docs/b\",\"docs/c\",\"docs/d\"]}]}\n-- CNAME --\nfrob.example\n-- .github/workflows/up.yml --\nurl: https://frob.example\n",
			"CNAME", ".github/workflows/up.yml", "https://frob.example/docs/a.md"},
		{"-- mkdocs.yml --\nsite_url: https://frob.example/en/\n-- README.md --\nSee https://frob.example/en-US/ and https://frob.example.org/en\n", "mkdocs.yml", "", ""},
		{"-- mkdocs.yml --\nsite_name: Frob\n-- README.md --\nSee https://frob.example/en/a/\n", "mkdocs.yml", "", ""},
	} {
		index := build(t, test.files+pages, origin, rank.Options{LinkStyle: rank.StyleAuto})
		if test.url == "" {
			test.url = origin.Remote + "/blob/" + origin.Commit + "/docs/a.md"
		}
		if got := find(index, "docs/a.md").URL; index.Site.From != test.from || index.Site.Witness != test.witness || got != test.url {
			t.Errorf("%+v links to %s, want %+v", index.Site, got, test)
		}
	}
}
