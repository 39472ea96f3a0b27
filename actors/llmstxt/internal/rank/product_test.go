package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestFactsAreThoseOfThePublishedPackage holds each fact to the package that one can install, or to silence: "dotnet
// add package Build" for Dapper sent an agent to a foreign package.
func TestFactsAreThoseOfThePublishedPackage(t *testing.T) {
	for name, test := range map[string]struct{ archive, title, published, install string }{
		"a build project at the root": {`
-- Build.csproj --
<Project Sdk="Microsoft.Build.Traversal/3.0.2"><ItemGroup><ProjectReference Include="Dapper\**\*.csproj" /></ItemGroup></Project>
-- Dapper/Dapper.csproj --
<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><PackageId>Dapper</PackageId><Description>Maps</Description><RepositoryUrl>https://example.com/x</RepositoryUrl></PropertyGroup></Project>
-- Dapper/SqlMapper.cs --
namespace Dapper { public class SqlMapper { } }
`, "Dapper", "Dapper (nuget)", "`dotnet add package Dapper`"},
		"a package of R with more code for browsers": {`
-- DESCRIPTION --
Package: dapper
Version: 1.2
-- package.json --
{"name": "@x/dapper", "version": "5.0.0"}
-- R/dapper.R --
dapper <- function() 1
-- inst/www/dapper.js --
export function dapper() { return 1 }
export function turn() { return 2 }
`, "dapper", "dapper (cran)", ""},
		"a package of Elixir with as much code for browsers": {`
-- mix.exs --
defmodule Dapper.MixProject do
  def project, do: [app: :dapper, version: "1.2.0", package: [licenses: ["MIT"]]]
end
-- package.json --
{"name": "dapper", "version": "1.2.0"}
-- lib/dapper.ex --
defmodule Dapper do
end
-- assets/js/dapper.js --
export function dapper() { return "turns widgets and shows them" }
`, "dapper", "dapper (hex)", "`{:dapper, \"~> 1.2\"}`"},
		"a build of Gradle without sources of its own": {`
-- build.gradle --
group = 'a.b'
description = 'Dapper'
-- settings.gradle --
rootProject.name = 'dapper'
-- core/build.gradle --
plugins { id 'java' }
-- core/src/main/java/a/b/Core.java --
package a.b;
public class Core {}
`, "Dapper", "", ""},
		"a workspace of a program": {`
-- Cargo.toml --
[workspace]
members = ["dapper"]
-- dapper/Cargo.toml --
[package]
name = "dapper"
description = "Maps rows"
license = "MIT"
-- dapper/src/main.rs --
fn main() {}
`, "dapper", "dapper (cargo)", "`cargo install dapper`"},
		"a parent among its modules": {`
-- pom.xml --
<project><groupId>a.b</groupId><artifactId>dapper-parent</artifactId><version>1.2</version><packaging>pom</packaging>
<modules><module>dapper</module></modules></project>
-- dapper/pom.xml --
<project><parent><groupId>a.b</groupId><artifactId>dapper-parent</artifactId><version>1.2</version></parent>
<artifactId>dapper</artifactId><description>Maps</description><url>https://example.com</url></project>
`, "dapper", "a.b:dapper (maven)", "`a.b:dapper:1.2`"},
		"a workspace whose root is called root": {`
-- package.json --
{"name": "root", "private": true, "version": "0.0.0", "workspaces": ["packages/*"]}
-- packages/dapper/package.json --
{"name": "@x/dapper", "version": "5.0.0", "main": "i.js"}
-- packages/other/package.json --
{"name": "@x/other"}
`, "dapper", "@x/dapper (npm)", "`npm install @x/dapper`"},
		"a workspace without a package of its name": {`
-- package.json --
{"name": "repository", "private": true, "version": "0.0.0", "workspaces": ["packages/*"]}
-- packages/one/package.json --
{"name": "one"}
`, "Dapper", "", ""},
		"a page in a project of another language": {`
-- README.md --
# Dapper
-- dapper/turn.py --
def turn(widget): return widget, widget, widget, widget, widget, widget, widget, widget, widget, widget, widget
-- dapper/page/package.json --
{"name": "dapper-page", "main": "page.js"}
-- dapper/page/page.js --
f()
`, "Dapper", "", ""},
		"a package that the README writes with a capital": {`
-- README.md --
# Dapper

    pip install -U Dapper
    pip install "dapper[all]"
-- setup.py --
setup(name="dapper")
`, "Dapper", "dapper (pypi)", "`pip install -U Dapper`"},
		"a manifest for a language that no code is in": {`
-- README.md --
# Dapper
-- Package.swift --
let package = Package(name: "dapper-swift")
-- turn.c --
int turn(int widget) { return widget; }
`, "Dapper", "", ""},
		"a workspace of Dart": {`
-- pubspec.yaml --
name: dapper
workspace:
  - one
`, "dapper", "", ""},
		"an application of Node": {`
-- package.json --
{"name": "dapper", "version": "1.18.0", "scripts": {"start": "next start"}}
-- src/app.ts --
export const app = 1
`, "dapper", "", ""},
		"a version that nobody has released, beside a schema": {`
-- package.json --
{"name": "dapper", "version": "0.1.0", "main": "server.js"}
-- prisma/schema.prisma --
model Row { id Int @id }
`, "dapper", "", ""},
		"a program of Go that no page installs": {`
-- go.mod --
module example.com/dapper
-- main.go --
package main
`, "dapper", "example.com/dapper", ""},
		"a script of Python that the README does not install": {`
-- setup.py --
setup(name="dapper", version="1.0")
-- dapper/__init__.py --
x = 1
`, "dapper", "", ""},
		"several packages at the root": {`
-- dapper-async.opam --
opam-version: "2.0"
-- dapper.opam --
opam-version: "2.0"
-- dapper-unix.opam --
opam-version: "2.0"
`, "dapper", "dapper (opam)", "`opam install dapper`"},
		"a group for all modules": {`
-- settings.gradle.kts --
rootProject.name = "dapper-root"
include(":dapper")
-- build.gradle.kts --
plugins { id("x") version "9.9" }
allprojects {
  group = "a.b"
  version = "1.2"
}
-- dapper/build.gradle.kts --
plugins { kotlin("jvm") }
`, "dapper", "", ""},
		"a package that npm and jsr have": {`
-- package.json --
{"private": true, "workspaces": ["packages/*"]}
-- packages/dapper/jsr.json --
{"name": "@dapper/dapper", "version": "1.2.3"}
-- packages/dapper/package.json --
{"name": "dapper", "version": "1.2.3", "main": "a.js"}
-- packages/dapper/a.ts --
export class Dapper {}
`, "dapper", "dapper (npm)", "`npm install dapper`"},
		"a build without a group": {`
-- settings.gradle.kts --
rootProject.name = "Dapper-library"
-- src/main/kotlin/Dapper.kt --
class Dapper
`, "Dapper-library", "", ""},
		"an application to begin with": {`
-- composer.json --
{"name": "x/dapper", "type": "project"}
-- src/Dapper.php --
<?php
class Dapper {}
`, "Dapper", "", ""},
		"a version copied from prose": {`
-- README.md --
# Dapper

    go get example.com/dapper@v1.2.3
-- go.mod --
module example.com/dapper
-- a.go --
package dapper
`, "Dapper", "example.com/dapper", "`go get example.com/dapper`"},
		"a gemspec without a name in its block": {`
-- dapper.gemspec --
Gem::Specification.new 'dapper', '1.2' do |s|
  s.summary = 'x'
  s.executables = all_files.grep(%r!^exe/!) { |f| File.basename(f) }
end
-- lib/dapper.rb --
class Dapper
end
`, "dapper", "dapper (rubygems)", "`gem install dapper`"},
		"a heading about the project": {`
-- README.md --
<p align="center">logo</p>

## About Dapper

Dapper maps rows.
-- composer.json --
{"name": "dapper/framework"}
`, "Dapper", "dapper/framework (composer)", "`composer require dapper/framework`"},
	} {
		index := build(t, test.archive, scan.Origin{Owner: "x", Repo: "Dapper"}, rank.Options{})
		got := facts(index)
		published := got["Package"] + got["Module"]
		if index.Title != test.title || published != test.published || got["Install"] != test.install {
			t.Errorf("%s: %q, %q, %s", name, index.Title, published, got["Install"])
		}
		if got["Commands"] != "" {
			t.Errorf("%s: names the commands %s, which it has not", name, got["Commands"])
		}
		if got["Version"] == "0.0.0" {
			t.Errorf("%s: the version of what nobody installs", name)
		}
	}
}
