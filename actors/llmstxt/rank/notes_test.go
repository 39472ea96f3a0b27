package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// TestNotesHaveNoResidue defends "residue (`](@id …)`, ` ```not_rust`, `2#`, licence headers) and warnings out of
// context got through".
func TestNotesHaveNoResidue(t *testing.T) {
	const more = "\n## One part\n\n## Other part\n"
	index := build(t, `
-- README.md --
# Frob

Frob is a library for widgets.
-- docs/grids.md --
# [Grids](@id man-grids)

Grids are where widgets stand on their own, see [Rows](@ref) for all of them.
-- docs/warned.md --
# Warned

⚠️ This is a work in progress ⚠️
`+more+`
-- docs/part.md --
Routes lead widgets to where they belong.

# Example

A first sentence that only the example has.
-- Cargo.toml --
[package]
name = "frob"
-- src/lib.rs --
//! `+"```not_rust"+`
//! cargo run -p frob
//! `+"```"+`
pub fn turn() {}
pub fn roll() {}
-- src/Old.java --
package a;
/**
 * Repository class for <code>Widget</code> domain objects.
 */
public class Old { public void a() {} }
-- src/numbered.rs --
//! 2# of the list that a tool has numbered
pub fn one() {}
pub fn two() {}
-- src/bsd.rs --
// Redistribution and use in source and binary forms, with or without modification, are permitted.
pub fn three() {}
pub fn four() {}
`, scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{
		"docs/grids.md":  "Grids are where widgets stand on their own, see Rows for all of them.",
		"docs/warned.md": "One part · Other part",
		"docs/part.md":   "Routes lead widgets to where they belong.",
		"src/lib.rs":     "`turn`, `roll`", "src/numbered.rs": "`one`, `two`", "src/bsd.rs": "`three`, `four`",
	})
	for file, title := range map[string]string{"docs/grids.md": "Grids", "docs/part.md": "docs/part.md"} {
		if got := find(index, file).Title; got != title {
			t.Errorf("%s is titled %q", file, got)
		}
	}
}

// TestNotesOfSettings gives notes to files that say nothing of themselves: 356 of 1,236 links had none.
func TestNotesOfSettings(t *testing.T) {
	hold(t, build(t, `
-- README.md --
# Frob

Frob is a library for widgets.
-- package.json --
{"name":"frob","scripts":{"build":"tsc","test":"vitest"}}
-- Makefile --
.PHONY: all
all: build test
VERSION := 1
build:
	tsc
-- docker-compose.yml --
services:
  web:
    image: frob
  db:
    image: postgres
volumes:
  data:
-- Dockerfile --
FROM golang:1.26 AS build
-- deploy/app.yml --
apiVersion: v1
kind: Service
-- LICENSE --
Permission is hereby granted, free of charge, to any person obtaining a copy
-- CHANGELOG.md --
# Changelog

All notable changes are written down here.

## [1.2.0] - 2026-01-01

## 1.1.0
`, scan.Origin{}, rank.Options{}), map[string]string{
		"package.json": "Scripts `build`, `test`", "Makefile": "Targets `all`, `build`",
		"docker-compose.yml": "Services `web`, `db`", "Dockerfile": "Based on `golang:1.26`",
		"deploy/app.yml": "Objects `Service`", "LICENSE": "The MIT licence",
		"CHANGELOG.md": "Versions 1.2.0, 1.1.0",
	})
}
