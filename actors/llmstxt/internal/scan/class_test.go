package scan_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// one gives the only file that the scan of it keeps.
func one(t *testing.T, path, text string) scan.File {
	t.Helper()
	repo, err := scan.Read(t.Context(), fstest.MapFS{path: {Data: []byte(text)}}, scan.Limits{}, nil, nil)
	if err != nil || len(repo.Files) != 1 {
		t.Fatalf("%s: %+v, %v", path, repo, err)
	}
	return repo.Files[0]
}

func TestKinds(t *testing.T) {
	for kind, paths := range map[scan.Kind]string{
		scan.Document: `README README.md README.rst README.org README.adoc README.textile README.rdoc README.pod
			README.zh-CN README_ja.txt readme.markdown INSTALL CHANGES.txt LICENSE LICENSE-MIT LICENSE.MIT
			COPYING.LESSER docs/a.txt docs/b.org CODE_OF_CONDUCT guide.texi index.mediawiki a.qmd`,
		scan.Manifest: `go.mod package.json Cargo.toml pyproject.toml setup.cfg requirements-dev.txt pom.xml
			build.gradle.kts settings.gradle A.csproj A.sln a.gemspec Gemfile composer.json mix.exs rebar.config
			Package.swift a.cabal CMakeLists.txt meson.build pubspec.yaml dune-project a.opam build.sbt deps.edn
			vcpkg.json MODULE.bazel shard.yml cpanfile a.rockspec a.nimble build.zig.zon Podfile`,
		scan.Config: `Makefile Dockerfile api.dockerfile Jenkinsfile Vagrantfile .gitlab-ci.yml
			.github/workflows/ci.yml docker-compose.yml prod.tfvars a.hcl BUILD.bazel a.bzl .npmrc .eslintrc.json
			.gitignore .lastwordignore .prettierignore tsconfig.base.json vite.config.ts jest.config.js a.service
			a.ini CODEOWNERS .tool-versions .clang-format flake.nix`,
		scan.Source: `a.go a.py a.rs a.tf a.nix a.sol a.ps1 a.fish a.pl a.fs a.elm README.py LICENSE.go tasks/app.config.ex`,
		scan.Other:  `data.json a.txt a.csv a.svg notes a.1`,
	} {
		for path := range strings.FieldsSeq(paths) {
			if f := one(t, path, "text\n"); f.Kind != kind {
				t.Errorf("%s is of kind %d, want %d", path, f.Kind, kind)
			}
		}
	}
	if f := one(t, "man/a.1", ".\\\" text\n.TH A 1\n"); f.Kind != scan.Document {
		t.Error("a page of the manual is no document")
	}
	if f := one(t, "INSTALL", "#!/bin/sh\n"); f.Kind != scan.Source {
		t.Error("a script is a document by its name")
	}
}

// Minified code is recognised wherever it stands.
func TestMinifiedCode(t *testing.T) {
	written := strings.Repeat("function add(a, b) {\n  return a + b; // the sum\n}\n", 100)
	packed := strings.Repeat("function a(b,c){return b+c}var d=a(1,2);", 400)
	for text, want := range map[string]scan.Place{
		written: scan.Product, packed: scan.Generated,
		written + packed: scan.Generated, packed + "\n" + written: scan.Generated,
		written + packed + "\n" + written:                                   scan.Generated,
		strings.Repeat(written, 20) + packed + packed + packed:              scan.Generated,
		written[:1500] + packed[:2500]:                                      scan.Generated,
		written + "var font = '" + strings.Repeat("aGVsbG8", 9000) + "';\n": scan.Product,
		written + packed[:500] + "\n" + written:                             scan.Product,
	} {
		for _, name := range []string{"a.js", "web/a.mjs"} {
			if f := one(t, name, text); f.Place != want {
				t.Errorf("%s of %d bytes, %.20q ... %.20q: place %d, want %d", name, len(text), text, text[len(text)-20:], f.Place, want)
			}
		}
	}
	if f := one(t, "package.json", "{"+strings.Repeat(`"a":[1,2,(3);],`, 2000)+"}"); f.Place != scan.Product {
		t.Error("a manifest is taken for generated")
	}
}

func TestLanguageByTheFirstLine(t *testing.T) {
	for line, want := range map[string]string{
		"#!/bin/sh": "Shell", "#! /usr/bin/env bash": "Shell", "#!/usr/bin/env -S python3.12 -u": "Python",
		"#!/usr/bin/env NODE_ENV=x node": "JavaScript", "#!/usr/bin/perl -w": "Perl", "#!/usr/bin/env ruby\r": "Ruby",
		"#!/usr/bin/env": "", "#!": "", "#!/opt/unknown": "", "text": "",
		"#!/usr/bin/lua5.4": "Lua", "#!/usr/bin/php8": "PHP",
	} {
		f := one(t, "bin/run", line+"\n")
		if f.Language != want || (f.Kind == scan.Source) != (want != "") {
			t.Errorf("%q: language %q of kind %d, want %q", line, f.Language, f.Kind, want)
		}
	}
	if f := one(t, "a.go", "#!/bin/sh\n"); f.Language != "Go" {
		t.Errorf("the name says Go, the scan %s", f.Language)
	}
	if f := one(t, "de.ts", "<?xml version=\"1.0\"?>\n"); f.Language != "" {
		t.Errorf("a translation is taken for %s", f.Language)
	}
	if f := one(t, "a.m", "#import <Foundation/Foundation.h>\n"); f.Language != "Objective-C" {
		t.Errorf("Objective-C is taken for %q", f.Language)
	}
}

func TestPlaces(t *testing.T) {
	for place, paths := range map[scan.Place]string{
		scan.Product: `a.go src/contest.py src/latest.js docs/snapshots/a.md docs/mocks/a.md doc/tests/even.rst
			docs/bench/a.md docs/snapshot.md src/snapshot.ts src/main/java/a/bench/A.java
			src/KeySpec.java
			src/main/java/org/springframework/samples/petclinic/A.java src/main/kotlin/com/example/demo/A.kt
			app/src/main/java/a/test/A.java src/com/example/demo/A.java src/latest/a.js
			src/Test.java testing/a.go testkit/a.go dist/a.ts lib/spec.rb lib/commands/test.js`,
		scan.Test: `t/lib/A.pm a_test.go x/testdata/a.txt tests/a.py a.test.ts a.spec.js a_spec.rb test_a.py
			src/test/java/A.java src/test/java/com/example/A.java src/commonTest/kotlin/A.kt com/x/tests/a.py
			src/net/http/testdata/a.txt fixtures/a.json __fixtures__/a cassettes/a.yaml golden/a.txt snapshots/a mocks/a.go
			a/__snapshots__/a.snap.js ui/a.snap src/UserTest.java Core.Tests/A.cs AppUnitTests/A.swift Core.Benchmarks/A.cs
			UserTests.swift UserTest.php UserSpec.scala examples/a/tests/x.py src/androidTest/A.kt tests.py e2e/a.ts test.js
			fixtures/samples/a.md src/locale/af/snapshot.md
			src/IntegrationTests/A.cs integration_test/a.exs pkgs/web_conformance_tests/lib/a.dart src/book/tests.rs`,
		scan.Example: `examples/a.go _examples/a.go samples/x/y.cs demo/index.js samples/src/main/java/a/A.java`,
		scan.Meta:    `.github/x.md .vscode/settings.json .config/tests/a.md`,
		scan.Generated: `go.sum yarn.lock a.lock x/Cargo.lock packages.lock.json a.pb.go a_pb2.py a.min.js a.js.map
			a.g.dart Form.Designer.cs zz_generated.x.go .terraform.lock.hcl Manifest.toml a_amalgamated.hpp
			mvnw gradlew.bat`,
	} {
		for path := range strings.FieldsSeq(paths) {
			if f := one(t, path, "text\n"); f.Place != place {
				t.Errorf("%s is in place %d, want %d", path, f.Place, place)
			}
		}
	}
}

func TestGeneratedByContent(t *testing.T) {
	long := strings.Repeat("a=b;", 200)
	for _, c := range []struct {
		path, text string
		generated  bool
	}{
		{"a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n", true},
		{"a.go", strings.Repeat("// Licence.\n", 200) + "// Code generated by x. DO NOT EDIT.\n", true},
		{"a.go", "package a\n\nconst s = \"// Code generated by x. DO NOT EDIT.\"\n", false},
		{"a.go", "// Package a writes \"Code generated\" marks.\npackage a\n", false},
		{"a.go", "// Keys are generated by the server.\npackage a\n", false},
		{"a.py", "# This file was automatically generated by SWIG\n", true},
		{"a.py", "\"\"\"This file is generated. Do not edit.\"\"\"\n", true},
		{"a.cs", "// <auto-generated>\n", true},
		{"a.c", "/* A Bison parser, made by GNU Bison 3.8.2.  */\n", true},
		{"configure", "#! /bin/sh\n# Guess values.\n# Generated by GNU Autoconf 2.71.\n", true},
		{"a.md", "Text about @generated files.\n", false},
		{"README.md", "<!-- This file is autogenerated by frob. Do not edit. -->\n# Frob\n", false},
		{"sub/README.md", "<!-- This file is autogenerated by frob. Do not edit. -->\n# Frob\n", true},
		{"conf.py", "# Not all values are present in this autogenerated file.\n", false},
		{"Cargo.toml", "# THIS FILE IS AUTOMATICALLY GENERATED BY CARGO\n", false},
		{"package-lock.json", "{}\n", true},
		{"aclocal.m4", "# generated automatically by aclocal 1.16.5 -*- Autoconf -*-\n", true},
		{"etc/install-sh", "#!/bin/sh\n", true},
		{"bin/compile", "#!/bin/sh\n# Compiles.\n", false},
		{"a.js", "/* licence */\n" + strings.Repeat(long+"\n", 4), true},
		{"a.js", strings.Repeat("const a = require('a');\n", 200), false},
		{"a.css", strings.Repeat("a{b:c}", 1000), true},
		{"a.json", "[" + strings.Repeat("1,", 4000) + "1]", true},
		{"a.json", strings.Repeat("{\"a\": 1}\n", 1000), false},
		{"a.html", strings.Repeat("<p>"+strings.Repeat("word ", 60)+"</p>\n", 20), false},
		{"a.md", strings.Repeat("word ", 2000), false},
	} {
		if f := one(t, c.path, c.text); (f.Place == scan.Generated) != c.generated {
			t.Errorf("%s with %.60q is in place %d", c.path, c.text, f.Place)
		}
	}
}

func TestVendored(t *testing.T) {
	root := open(t, fixture(t, "vendored"))
	repo := read(t, root, scan.Limits{})
	if got, want := paths(repo), "LICENSE ext/mine/mine.c ext/ours.c lib/own/LICENSE vendors/a.php"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	if got, want := left(repo), "vendored: 0 files 10 folders, Vendor"; got != want {
		t.Errorf("left out %s, want %s", got, want)
	}
}

func TestOwnIgnoreFileHasTheLastWord(t *testing.T) {
	root := open(t, fixture(t, "own_ignore_file_has_the_last_word"))
	repo := read(t, root, scan.Limits{})
	got := slices.DeleteFunc(strings.Fields(paths(repo)), func(p string) bool { return strings.HasSuffix(p, "ignore") })
	if want := "built/api.md keep.log secret.md sub/a.csv vendor/a.go"; strings.Join(got, " ") != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	if got, want := left(repo), "ignored: 5 files 2 folders, a.csv"; got != want {
		t.Errorf("left out %s, want %s", got, want)
	}
}

func TestGitAttributesMarkFiles(t *testing.T) {
	repo := read(t, open(t, fixture(t, "git_attributes_mark_files")), scan.Limits{})
	var got []string
	for _, f := range repo.Files {
		if f.Place == scan.Generated {
			got = append(got, f.Path)
		}
	}
	if strings.Join(got, " ") != "api/a.ts" {
		t.Errorf("generated are %s, want api/a.ts", got)
	}
	if got, want := left(repo), "vendored: 1 files 0 folders, lib.js"; got != want {
		t.Errorf("left out %s, want %s", got, want)
	}
}

const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"

func TestSecretsAreLeftOut(t *testing.T) {
	for name, text := range map[string]string{
		".env": "A=b\n", "web/.env": "A=b\n", ".ENV": "A=b\n", ".env.local": "A=b\n", ".env.production": "A=b\n",
		".netrc": "machine x\n", "_netrc": "machine x\n", ".pypirc": "[x]\n", ".htpasswd": "a:b\n",
		".npmrc":   "//r.example/:_authToken=x\n",
		"a/.npmrc": "//r.example/:_password=x\n",
		"id_rsa":   key, ".ssh/id_ed25519": key, "id_dsa": "x\n", "id_ecdsa": "x\n",
		"tls/server.key": key, "tls/server.pem": "-----BEGIN CERTIFICATE-----\nMIID\n" + key,
		"a.p12": "x\n", "a.pfx": "x\n", "a.jks": "x\n", "a.keystore": "x\n",
		"config/secrets.yml": "production: {}\n", "secrets.yaml": "a: b\n", "conf/secrets.prod.toml": "a = 1\n",
		"k8s/app-secret.yaml": "kind: Secret\n", "secrets.json": "{}\n", "credentials.json": "{}\n", "config/credentials.yml.enc": "x\n",
		"gcp_credentials.json": "{}\n", "db.secret.properties": "a=b\n", "config/master.key": "x\n", "secrets.auto.tfvars": "a = 1\n",
		".pgpass": "h:5432:d:u:p\n", ".my.cnf": "[client]\n", ".vault-token": "x\n", "kubeconfig": "users: []\n", ".secrets": "A=b\n",
		"vault.kdbx": "x\n", "key.ppk": "x\n", ".git-credentials": "https://a:b@x.example\n", ".aws/credentials": "[default]\n", "home/.docker/config.json": "{}\n",
		"terraform.tfstate": "{}\n", "infra/terraform.tfstate.backup": "{}\n",
	} {
		files := fstest.MapFS{name: {Data: []byte(text)}, ".lastwordignore": {Data: []byte("!*\n")}, "a.md": {Data: []byte("# A\n")}}
		repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
		must(t, err)
		if got, want := paths(repo), ".lastwordignore a.md"; got != want {
			t.Errorf("%s: kept %s, want %s", name, got, want)
		}
		if got, want := left(repo), "may hold secrets: 1 files 0 folders, "+name; got != want {
			t.Errorf("%s: left out %s, want %s", name, got, want)
		}
	}
}

func TestWhatOnlyLooksSecretIsKept(t *testing.T) {
	for name, text := range map[string]string{
		".env.example": "A=\n", ".env.sample": "A=\n", ".env.template": "A=\n", ".env.dist": "A=\n", "example.env": "A=\n",
		".env.local.example": "A=\n", ".npmrc": "always-auth=true\n", "id_rsa.pub": "ssh-rsa AAAA\n",
		"ca.pem": "-----BEGIN CERTIFICATE-----\nMIID\n", "public.key": "-----BEGIN PUBLIC KEY-----\nMIIB\n",
		"docs/credentials": "x\n", "config.json": "{}\n", "keys.go": "package a\n\nconst head = \"PRIVATE KEY\"\n",
		"config/secrets.yml.example": "a: b\n", "config/secrets.example.yml": "a: b\n", "secrets.sample.json": "{}\n",
		"secrets.py": "x = 1\n", "secret.md": "# A\n", "src/secrets.go": "package a\n", "secretary.yml": "a: b\n", "docs/secrets.md": "# A\n",
		"environment.md": "# A\n", "terraform.tf": "x {}\n",
	} {
		repo, err := scan.Read(t.Context(), fstest.MapFS{name: {Data: []byte(text)}}, scan.Limits{}, nil, nil)
		must(t, err)
		if got := paths(repo); got != name {
			t.Errorf("%s is left out: %s", name, left(repo))
		}
	}
}
