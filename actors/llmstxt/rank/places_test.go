package rank_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// TestPackagesMayBeCalledSamples defends "spring-petclinic links no Java file and lists functions of mvnw".
func TestPackagesMayBeCalledSamples(t *testing.T) {
	index := build(t, `
-- pom.xml --
<project><groupId>org.springframework.samples</groupId><artifactId>clinic</artifactId></project>
-- mvnw --
#!/bin/sh
# Turns the path of a program into one of the system.
native_path() { echo "$1"; }
-- src/main/java/org/springframework/samples/clinic/Clinic.java --
package org.springframework.samples.clinic;
/** Keeps the animals of a town and their visits. */
public class Clinic { public void open() {} }
-- src/main/java/com/example/demo/bench/Lang.java --
package com.example.demo.bench;
/** Speaks with the owners of the animals. */
public class Lang { public void say() {} }
-- src/main/resources/db/schema.sql --
create table animals (id int);
-- src/test/java/org/springframework/samples/clinic/Helper.java --
package org.springframework.samples.clinic;
/** Helps the tests of the clinic to begin. */
public class Helper { public void help() {} }
`, scan.Origin{}, rank.Options{})
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

// TestReadmeBehindALink defends that the root README is not lost where it is a link to that of a package.
func TestReadmeBehindALink(t *testing.T) {
	root, repo := unpack(t, `
-- Cargo.toml --
[workspace]
members = ["frob", "frob-core"]
-- frob/Cargo.toml --
[package]
name = "frob"
description = "Turning of widgets"
-- frob/README.md --
# frob

`+"`frob`"+` is a library for turning widgets.
-- frob/src/lib.rs --
//! Turns widgets.
pub fn turn() {}
-- frob-core/Cargo.toml --
[package]
name = "frob-core"
-- frob-core/src/lib.rs --
//! The core of it.
pub fn core() {}
`)
	if err := os.Symlink("frob/README.md", filepath.Join(root.Name(), "README.md")); err != nil {
		t.Skip(err)
	}
	index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := outline(index); !strings.HasPrefix(got, "Docs: frob/README.md\nPackages: frob/src/lib.rs frob-core/src/lib.rs\n") {
		t.Error(got)
	}
	if index.Title != "frob" || index.Summary != "frob is a library for turning widgets." {
		t.Errorf("%q: %q", index.Title, index.Summary)
	}
}

// TestReadmeForTheHost defends that the root README is not lost where GitHub alone looks for it.
func TestReadmeForTheHost(t *testing.T) {
	index := build(t, `
-- .github/README.md --
# Frob

Frob is a library for turning widgets.
-- src/a/README.md --
# A

A is the first of two.
-- src/b/README.md --
# B

B is the second of two.
`, scan.Origin{}, rank.Options{})
	if got := outline(index); !strings.HasPrefix(got, "Docs: .github/README.md") || index.Title != "Frob" {
		t.Errorf("%q: %s", index.Title, got)
	}
}
