package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// TestFactsAreThoseOfThePublishedPackage holds each fact to the package that one can install, or to silence: "dotnet
// add package Build" for Dapper sent an agent to a foreign package.
func TestFactsAreThoseOfThePublishedPackage(t *testing.T) {
	for name, test := range map[string]struct{ archive, title, published, install string }{
		"a build project at the root": {`
-- Build.csproj --
<Project Sdk="Microsoft.Build.Traversal/3.0.2"><ItemGroup><ProjectReference Include="Dapper\**\*.csproj" /></ItemGroup></Project>
-- Dapper/Dapper.csproj --
<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><PackageId>Dapper</PackageId></PropertyGroup></Project>
-- Dapper/SqlMapper.cs --
namespace Dapper { public class SqlMapper { } }
`, "Dapper", "Dapper (nuget)", "`dotnet add package Dapper`"},
		"a parent among its modules": {`
-- pom.xml --
<project><groupId>a.b</groupId><artifactId>dapper-parent</artifactId><version>1.2</version><packaging>pom</packaging>
<modules><module>dapper</module></modules></project>
-- dapper/pom.xml --
<project><parent><groupId>a.b</groupId><artifactId>dapper-parent</artifactId><version>1.2</version></parent>
<artifactId>dapper</artifactId></project>
`, "dapper", "a.b:dapper (maven)", "`a.b:dapper:1.2`"},
		"a workspace whose root is called root": {`
-- package.json --
{"name": "root", "private": true, "version": "0.0.0", "workspaces": ["packages/*"]}
-- packages/dapper/package.json --
{"name": "@x/dapper", "version": "5.0.0"}
-- packages/other/package.json --
{"name": "@x/other"}
`, "dapper", "@x/dapper (npm)", "`npm install @x/dapper`"},
		"a workspace without a package of its name": {`
-- package.json --
{"name": "repository", "private": true, "version": "0.0.0", "workspaces": ["packages/*"]}
-- packages/one/package.json --
{"name": "one"}
`, "Dapper", "", ""},
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
`, "dapper", "a.b:dapper (gradle)", "`a.b:dapper:1.2`"},
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
		if got["Version"] == "0.0.0" {
			t.Errorf("%s: the version of what nobody installs", name)
		}
	}
}
