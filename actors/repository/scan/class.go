package scan

import (
	"bytes"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/manifest"
)

func kindOf(name string, docs bool, language string, head []byte) Kind {
	switch {
	case manifest.Known(name) || isManifest(name):
		return Manifest
	case isDocument(name, docs, language) || isManPage(name, head) ||
		path.Ext(name) == ".asc" && !bytes.HasPrefix(head, []byte("-----BEGIN")):
		return Document
	case isConfig(name):
		return Config
	case language != "":
		return Source
	}
	return Other
}

// isManifest knows the manifests that package manifest cannot read.
func isManifest(name string) bool {
	switch name {
	case "Pipfile", "environment.yml", "Gemfile", "build.sbt", "project.clj", "deps.edn", "shadow-cljs.edn",
		"Cartfile", "Podfile", "vcpkg.json", "conanfile.txt", "conanfile.py", "WORKSPACE", "WORKSPACE.bazel",
		"MODULE.bazel", "elm.json", "shard.yml", "gleam.toml", "stack.yaml", "cabal.project", "spago.yaml",
		"spago.dhall", "cpanfile", "Makefile.PL", "Build.PL", "META6.json", "dub.json", "dub.sdl", "bower.json",
		"lerna.json", "haxelib.json", "foundry.toml", "Move.toml", "Scarb.toml", "configure.ac", "build.xml",
		"packages.config", "extension.toml", "plugin.xml", "galaxy.yml", "Chart.yaml":
		return true
	}
	switch path.Ext(name) {
	case ".vcxproj", ".nuspec", ".nimble", ".rockspec":
		return true
	case ".txt":
		return strings.HasPrefix(name, "requirements")
	}
	return false
}

func isDocument(name string, docs bool, language string) bool {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".md", ".mdx", ".markdown", ".mdown", ".mkd", ".mkdn", ".qmd", ".rmd", ".livemd", ".rst", ".adoc",
		".asciidoc", ".org", ".textile", ".pod", ".rdoc", ".creole", ".wiki", ".mediawiki", ".texi", ".texinfo",
		".ronn", ".djot", ".ipynb":
		return true
	case ".txt":
		return docs || isDocumentName(name)
	default:
		return language == "" && isDocumentName(name) && (ext == "" || isReadme(name) || isLicence(name))
	}
}

// isDocumentName knows the names that are prose even without an extension.
func isDocumentName(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "NOTICE", "AUTHORS", "CONTRIBUTORS", "MAINTAINERS", "PATENTS", "COPYRIGHT", "CREDITS", "THANKS",
		"CHANGES", "CHANGELOG", "HISTORY", "NEWS", "RELEASES", "RELEASE_NOTES", "RELEASE-NOTES", "ROADMAP",
		"TODO", "BUGS", "INSTALL", "USAGE", "FAQ", "MANUAL", "TUTORIAL", "CONTRIBUTING", "HACKING", "SECURITY",
		"SUPPORT", "GOVERNANCE", "UPGRADING", "MIGRATION", "ARCHITECTURE", "DESIGN", "CODE_OF_CONDUCT":
		return true
	}
	return isLicence(name) || isReadme(name)
}

// isReadme admits languages after the name: README.zh-CN, README_ja.txt.
func isReadme(name string) bool {
	rest, ok := strings.CutPrefix(strings.ToUpper(name), "README")
	return ok && (rest == "" || strings.ContainsRune(".-_", rune(rest[0])))
}

// isManPage wants both: a section for extension, and the macros of one in the text.
func isManPage(name string, head []byte) bool {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	section := len(ext) > 0 && len(ext) <= 4 && ext[0] >= '1' && ext[0] <= '9'
	if !section && ext != "man" && ext != "mdoc" && ext != "roff" {
		return false
	}
	for _, macro := range []string{".TH ", ".Dd ", ".SH "} {
		if bytes.HasPrefix(head, []byte(macro)) || bytes.Contains(head, []byte("\n"+macro)) {
			return true
		}
	}
	return false
}

func isConfig(name string) bool {
	switch name {
	case "Makefile", "makefile", "GNUmakefile", "Makefile.am", "Makefile.in", "Dockerfile", "Containerfile",
		"Justfile", "justfile", "Taskfile", "Procfile", "Jenkinsfile", "Vagrantfile", "Rakefile", "Guardfile",
		"Fastfile", "Brewfile", "Caddyfile", "Earthfile", "Tiltfile", "Snakefile", "SConstruct", "SConscript",
		"BUILD", "BUILD.bazel", "CODEOWNERS", "Kconfig", "Doxyfile", "Berksfile", "Cakefile", "meson_options.txt",
		"meson.options", "flake.nix", "default.nix", "shell.nix", "turbo.json", "nx.json", "renovate.json",
		"jest.config.json", "app.json", "vercel.json", "firebase.json", "angular.json", "tslint.json", "biome.json",
		"biome.jsonc", "global.json", "nuget.config", "NuGet.Config", "web.config", "app.config", "phpunit.xml",
		"phpunit.xml.dist", "rust-toolchain", "buf.gen.yaml", "cloudbuild.json", "appveyor.yml":
		return true
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".cnf", ".properties", ".env", ".mk", ".ninja",
		".cmake", ".bazel", ".bzl", ".hcl", ".tfvars", ".props", ".targets", ".service", ".socket", ".timer",
		".dockerfile", ".plist", ".editorconfig":
		return true
	}
	return isRunControl(name) || isToolConfig(name) || strings.HasPrefix(name, "tsconfig") ||
		strings.HasPrefix(name, "jsconfig") || strings.HasPrefix(name, "Dockerfile.")
}

// isToolConfig tells settings that are written as code: vite.config.ts.
func isToolConfig(name string) bool {
	switch ext := path.Ext(name); ext {
	case ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json":
		return strings.HasSuffix(strings.TrimSuffix(name, ext), ".config")
	}
	return false
}

// isRunControl tells the dot files that set up tools: .npmrc, .eslintrc.json, .gitignore, .tool-versions.
func isRunControl(name string) bool {
	if !strings.HasPrefix(name, ".") {
		return false
	}
	stem, _, _ := strings.Cut(name[1:], ".")
	switch stem {
	case "env", "clang-format", "clang-tidy", "tool-versions", "python-version", "node-version", "ruby-version",
		"java-version", "rspec", "formatter", "credo", "swiftlint", "rustfmt", "flake8", "mailmap",
		"gitmodules", "gitattributes", "gitkeep", "editorconfig", "htaccess":
		return true
	}
	return strings.HasSuffix(stem, "rc") || strings.HasSuffix(stem, "ignore")
}
