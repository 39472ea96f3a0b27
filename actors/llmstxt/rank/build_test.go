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

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

func unpack(t *testing.T, archive string) (*os.Root, *scan.Repository) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if err := root.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile(f.Name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repo, err := scan.Read(t.Context(), root.FS(), scan.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return root, repo
}

func build(t *testing.T, archive string, origin scan.Origin, caps rank.Caps) *rank.Index {
	t.Helper()
	root, repo := unpack(t, archive)
	repo.Origin = origin
	index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{Caps: caps}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// outline is the paths of each section.
func outline(index *rank.Index) string {
	var b strings.Builder
	for _, s := range index.Sections {
		fmt.Fprintf(&b, "%s:", s.Name)
		for _, l := range s.Links {
			b.WriteString(" " + l.Path)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestPackagesByImporters(t *testing.T) {
	index := build(t, `
-- go.mod --
module example.com/m/v2
-- m.go --
package m
-- a/a.go --
package a
-- b/b.go --
package b

import "example.com/m/v2/c/deep"
-- c/deep/c.go --
package deep

import "example.com/m/v2/z"
-- z/z.go --
package z
-- z/gen.go --
//go:build ignore

package main
-- nested/go.mod --
module example.com/other
-- nested/n/n.go --
package n

import "example.com/m/v2/z"
-- e/e.go --
package e

import "example.com/other/n"
-- cmd/tool/main.go --
package main
-- _hidden/h.go --
package h
-- internal/i/i.go --
package i
-- a/a_test.go --
package a

import "example.com/m/v2/b"
`, scan.Origin{}, rank.Caps{})
	const want = `Packages: m.go z/z.go c/deep/c.go nested/n/n.go a/a.go b/b.go e/e.go
Commands: cmd/tool/main.go
Configuration: go.mod nested/go.mod
`
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if index.Title != "m" {
		t.Errorf("title %q", index.Title)
	}
}

func TestDocumentsInReadingOrder(t *testing.T) {
	index := build(t, `
-- README.md --
# Name
-- README.zh-CN.md --
# Name
-- README_fr.md --
# Name
-- docs/zebra.md --
# Zebra
-- docs/advanced.md --
# Advanced
-- docs/index.md --
# Index
-- docs/install.md --
# Install
-- docs/getting-started.md --
# Start
-- docs/empty.md --
-- lib/README.md --
# Lib
-- lib/third/LICENSE --
Apache License Version 2.0
-- .github/PULL_REQUEST_TEMPLATE.md --
# Template
-- test/notes.md --
# Notes
-- SECURITY.md --
# Security
-- CONTRIBUTING.md --
# Contributing
`, scan.Origin{}, rank.Caps{})
	const want = `Docs: README.md docs/getting-started.md docs/install.md docs/index.md docs/zebra.md lib/README.md docs/advanced.md
Optional: CONTRIBUTING.md SECURITY.md
`
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestCaps(t *testing.T) {
	var archive strings.Builder
	for i := range 9 {
		fmt.Fprintf(&archive, "-- docs/%d.md --\n# Page\n-- examples/%d/main.py --\nx = 1\n", i, i)
	}
	index := build(t, archive.String(), scan.Origin{}, rank.Caps{PerSection: 4, Links: 6})
	const want = "Docs: docs/0.md docs/1.md docs/2.md docs/3.md\nExamples: examples/0/main.py examples/1/main.py\n"
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTitlesInASectionDiffer(t *testing.T) {
	index := build(t, `
-- docs/client/sampling.md --
# Sampling
-- docs/server/sampling.md --
# Sampling
-- docs/one.md --
# Same
-- docs/two.md --
# Same
-- lib/README.md --
Without a heading.
`, scan.Origin{}, rank.Caps{})
	var titles []string
	for _, l := range index.Sections[0].Links {
		titles = append(titles, l.Title)
	}
	want := "Same (docs/one.md), Same (docs/two.md), Sampling (client), Sampling (server), lib"
	if got := strings.Join(titles, ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLinksArePinned(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for remote, want := range map[string]string{
		"git@github.com:o/r.git":                "https://github.com/o/r/blob/" + commit + "/docs/a%20b.md",
		"https://git.example.com/o/r":           "https://git.example.com/o/r/blob/" + commit + "/docs/a%20b.md",
		"https://gitlab.com/g/s/r":              "https://gitlab.com/g/s/r/-/blob/" + commit + "/docs/a%20b.md",
		"https://bitbucket.org/o/r":             "https://bitbucket.org/o/r/src/" + commit + "/docs/a%20b.md",
		"https://codeberg.org/o/r":              "https://codeberg.org/o/r/src/commit/" + commit + "/docs/a%20b.md",
		"https://chromium.googlesource.com/o/r": "https://chromium.googlesource.com/o/r/+/" + commit + "/docs/a%20b.md",
		"/srv/git/r":                            "docs/a%20b.md",
	} {
		index := build(t, "-- docs/a b.md --\n# A\n", scan.ParseOrigin(remote, commit, ""), rank.Caps{})
		if got := index.Sections[0].Links[0].URL; got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
	index := build(t, "-- docs/a.md --\n# A\n", scan.ParseOrigin("https://github.com/o/r", "", ""), rank.Caps{})
	if got := index.Sections[0].Links[0].URL; got != "docs/a.md" {
		t.Errorf("without a commit: %s", got)
	}
}

func TestSummaryFallsBack(t *testing.T) {
	tests := []struct{ archive, summary, from string }{
		{"-- README.md --\n# x\n\nReadme says what it is for.\n-- x.go --\n// Package x is one thing.\npackage x\n", "Readme says what it is for.", "README.md"},
		{"-- README.md --\n# x\n-- package.json --\n{\"name\":\"x\",\"description\":\"A thing of note\",\"version\":1}\n", "A thing of note", "package.json"},
		{"-- go.mod --\nmodule m.org/x\n-- x.go --\n// Package x is one thing. And more.\npackage x\n", "Package x is one thing.", "x.go"},
		{"-- go.mod --\nmodule m.org/x\n-- cmd/x/main.go --\n// X is a command.\npackage main\n-- cmd/y/main.go --\n// Y too.\npackage main\n", "X is a command.", "cmd/x/main.go"},
		{"-- cmd/y/main.go --\n// Y is the only command.\npackage main\n", "Y is the only command.", "cmd/y/main.go"},
		{"-- a.txt --\nnothing\n", "", ""},
	}
	for _, test := range tests {
		index := build(t, test.archive, scan.Origin{}, rank.Caps{})
		if index.Summary != test.summary || index.SummaryFrom != test.from {
			t.Errorf("got %q from %q, want %q from %q", index.Summary, index.SummaryFrom, test.summary, test.from)
		}
	}
}

func TestBuildHeedsItsContext(t *testing.T) {
	root, repo := unpack(t, "-- docs/a.md --\n# A\n-- docs/b.md --\n# B\n")
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
	root, repo := unpack(t, "-- docs/a.md --\n# A\n\nSays something of some length.\n-- docs/b.md --\n# B\n")
	if err := root.Remove("docs/a.md"); err != nil {
		t.Fatal(err)
	}
	index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{}, nil)
	if err != nil || outline(index) != "Docs: docs/a.md docs/b.md\n" || index.Sections[0].Links[0].Title != "docs/a.md" {
		t.Errorf("got %v, %+v", err, index)
	}
}
