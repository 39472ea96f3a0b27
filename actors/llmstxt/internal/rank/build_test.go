package rank_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

func unpack(t *testing.T, archive string) (*os.Root, *scan.Repository) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	t.Cleanup(func() { root.Close() })
	for _, f := range txtar.Parse([]byte(archive)).Files {
		must(t, root.MkdirAll(filepath.Dir(f.Name), 0o755))
		must(t, root.WriteFile(f.Name, f.Data, 0o644))
	}
	repo, err := scan.Read(t.Context(), root.FS(), scan.Limits{}, nil, nil)
	must(t, err)
	return root, repo
}

// fixture is the text of an archive in testdata.
func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	must(t, err)
	return string(text)
}

func build(t *testing.T, archive string, origin scan.Origin, options rank.Options) *rank.Index {
	t.Helper()
	root, repo := unpack(t, archive)
	repo.Origin = origin
	index, err := rank.Build(t.Context(), root.FS(), repo, options, nil)
	must(t, err)
	return index
}

// outline is the paths of each section, symbols by their titles.
func outline(index *rank.Index) string {
	var b strings.Builder
	for _, s := range index.Sections {
		fmt.Fprintf(&b, "%s:", s.Name)
		for _, l := range s.Links {
			if strings.Contains(l.URL, "#L") {
				b.WriteString(" " + l.Title)
				continue
			}
			b.WriteString(" " + l.Path)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func find(index *rank.Index, path string) rank.Link {
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if l.Path == path && s.Name != "API" {
				return l
			}
		}
	}
	return rank.Link{}
}

func TestPackages(t *testing.T) {
	index := build(t, fixture(t, "packages"), scan.Origin{}, rank.Options{})
	const want = `Packages: m.go a/a.go b/b.go e/e.go z/z.go c/deep/c.go nested/n/n.go
Commands: cmd/tool/main.go
Configuration: go.mod
`
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if index.Title != "m" {
		t.Errorf("title %q", index.Title)
	}
}

func TestDocumentsInReadingOrder(t *testing.T) {
	const prose = "\nOne paragraph says what this page is about.\n\nAnother says more of it.\n\nA third ends it.\n"
	index := build(t, `
-- README.md --
# Name

See [the one](x/linked.md) for what this is about, and the others for the rest of what is here.
It is written for all of the readers that you know, with some that you do not.
-- README.zh-CN.md --
# 名前
-- README_fr.md --
# Nom
-- x/zebra.md --
# Zebra
`+prose+`
-- x/linked.md --
# Linked
`+prose+`
-- x/q.md --
# Getting Started with Name
`+prose+`
-- x/copy.md --
# Getting Started with Name
`+prose+`
-- x/y/old.md --
# Zebra in depth
`+prose+`
-- x/empty.md --
-- x/ru.md --
# Руководство

Это руководство для всех, кто работает с программой не на английском языке.
-- lib/third/LICENSE --
Apache License Version 2.0
-- .github/PULL_REQUEST_TEMPLATE.md --
# Template
-- test/notes.md --
# Notes
-- SECURITY.md --
# Security
`+prose+`
-- GOVERNANCE.md --
# Governance
`+prose+`
-- CONTRIBUTING.md --
# Contributing
`+prose, scan.Origin{}, rank.Options{})
	const want = `Docs: README.md x/linked.md x/copy.md x/zebra.md x/y/old.md
Optional: CONTRIBUTING.md SECURITY.md
`
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	passed := fmt.Sprint(index.Passed)
	for _, want := range []string{"{GOVERNANCE.md about people", "{x/q.md the same text as x/copy.md}",
		"{README_fr.md a translation}",
		"{lib/third/LICENSE a licence of a part}"} {
		if !strings.Contains(passed, want) {
			t.Errorf("%s is not among %s", want, passed)
		}
	}
}

func TestCaps(t *testing.T) {
	var archive strings.Builder
	for i := range 9 {
		fmt.Fprintf(&archive, "-- docs/%d.md --\n# Page %d\n\nIt says something of some length.\n", i, i)
		fmt.Fprintf(&archive, "-- examples/%d/main.py --\nx = %d\n", i, i)
	}
	archive.WriteString("-- AGENTS.md --\n# For agents\n-- CONTRIBUTING.md --\n# How\n-- LICENSE --\nMIT\n")
	const optional = "Optional: AGENTS.md CONTRIBUTING.md LICENSE\n"
	if got, want := outline(build(t, archive.String(), scan.Origin{}, rank.Options{Links: 4})), "Docs: docs/0.md\n"+optional; got != want {
		t.Errorf("with room for four: got\n%swant\n%s", got, want)
	}
	index := build(t, archive.String(), scan.Origin{}, rank.Options{Links: 8})
	const want = "Docs: docs/0.md docs/1.md docs/2.md docs/3.md\nExamples: examples/0/main.py\n" + optional
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if passed := fmt.Sprint(index.Passed); !strings.Contains(passed, "{docs/4.md ranks below 4 links of its sort}") {
		t.Errorf("passed %v", passed)
	}
	archive.Reset() // sources that tell nothing but their path
	for i := range 40 {
		fmt.Fprintf(&archive, "-- src/%c/%d.c --\nint;\n", 'a'+i%5, i)
	}
	if n := strings.Count(outline(build(t, archive.String(), scan.Origin{}, rank.Options{})), ".c"); n != 20 {
		t.Errorf("%d sources without a word are listed, want 20", n)
	}
}

func TestTitlesInASectionDiffer(t *testing.T) {
	index := build(t, fixture(t, "titles_in_a_section_differ"), scan.Origin{}, rank.Options{})
	var titles []string
	for _, l := range index.Sections[0].Links {
		titles = append(titles, l.Title)
	}
	want := "Sampling (client), Same (one), Sampling (server), Same (two), lib"
	if got := strings.Join(titles, ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSummaryIsWhatSaysMost(t *testing.T) {
	const goMod = "-- go.mod --\nmodule m.org/x\n"
	tests := []struct{ archive, summary, from string }{
		{"-- README.md --\n# x\n\nX is a library for reading things.\n-- x.go --\n// Package x is one thing.\npackage x\n",
			"X is a library for reading things.", "README.md"},
		{"-- README.md --\n# x\n\nPlease install it with your package manager first.\n-- package.json --\n" +
			`{"name":"x","description":"A parser of dates for people","version":1}` + "\n", "A parser of dates for people",
			"package.json"},
		{"-- README.md --\n# x\n\nThanks to all who sponsor our work!\n\n## About\n\nX parses dates as people write them.\n", "X parses dates as people write them.", "README.md"},
		{"-- README.md --\n# x\n\n<p align=\"center\">A small web framework for Lua</p>\n\nFollow the steps that are listed below.\n", "A small web framework for Lua", "README.md"},
		{"-- README.md --\n# x\n\nX is a queue. See the wiki for how to install it.\n", "X is a queue.", "README.md"},
		{goMod + "-- x.go --\n// Package x is one thing. And more.\npackage x\n", "Package x is one thing.", "x.go"},
		{goMod + "-- cmd/x/main.go --\n// X is a command.\npackage main\n-- cmd/y/main.go --\n// Y too.\npackage main\n",
			"X is a command.", "cmd/x/main.go"},
		{"-- cmd/y/main.go --\n// Y is the only command.\npackage main\n", "Y is the only command.", "cmd/y/main.go"},
		{"-- README.md --\n# 名前\n\nこれは表を読み書きするためのライブラリです。もっと詳しく。\n", "これは表を読み書きするためのライブラリです。もっと詳しく。", "README.md"},
		{"-- a.txt --\nnothing\n", "", ""},
	}
	for _, test := range tests {
		index := build(t, test.archive, scan.Origin{}, rank.Options{})
		if index.Summary != test.summary || index.SummaryFrom != test.from {
			t.Errorf("got %q from %q, want %q from %q", index.Summary, index.SummaryFrom, test.summary, test.from)
		}
		if (index.SummaryReason == "") != (test.summary == "") || strings.Contains(index.Summary, "\n") {
			t.Errorf("%q for the reason %q", index.Summary, index.SummaryReason)
		}
	}
}

func TestBuildHeedsItsContext(t *testing.T) {
	root, repo := unpack(t, "-- docs/a.md --\n# A\n\nSays this much of it.\n-- docs/b.md --\n# B\n\nSays that much of it.\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	heard := 0
	_, err := rank.Build(ctx, root.FS(), repo, rank.Options{}, func(done, total int) {
		heard = done
		cancel(cause)
	})
	if err != cause || heard != 1 {
		t.Errorf("got %v after %d links", err, heard)
	}
}

func TestBuildAfterFilesAreGone(t *testing.T) {
	root, repo := unpack(t,
		"-- docs/a.md --\n# A\n\nSays something of some length.\n-- docs/b.md --\n# B\n\nSays more of it than that.\n")
	must(t, root.Remove("docs/a.md"))
	index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{}, nil)
	if err != nil || outline(index) != "Docs: docs/b.md\n" || len(index.Passed) == 0 ||
		index.Passed[0].Reason != "cannot be read" {
		t.Errorf("got %v, %+v", err, index)
	}
}
