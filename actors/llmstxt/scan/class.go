package scan

import (
	"path"
	"strings"
)

func isVCS(name string) bool {
	return name == ".git" || name == ".hg" || name == ".svn" || name == ".jj"
}

func isVendored(name string) bool {
	switch strings.ToLower(name) {
	case "vendor", "node_modules", "third_party", "third-party", "thirdparty", "bower_components", "jspm_packages",
		"pods", "carthage", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".yarn", ".pnpm-store", ".gradle":
		return true
	}
	return false
}

// isBinaryName saves opening what is never text.
func isBinaryName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".tiff", ".avif", ".heic", ".psd",
		".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".jar", ".war", ".whl",
		".pdf", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".mp4", ".mov", ".avi", ".webm", ".wav", ".ogg", ".flac",
		".exe", ".dll", ".so", ".dylib", ".a", ".o", ".obj", ".lib", ".syso", ".class", ".pyc", ".wasm", ".bin",
		".db", ".sqlite", ".sqlite3", ".parquet", ".onnx", ".pt", ".gguf", ".safetensors":
		return true
	}
	return false
}

func kindOf(at []string) Kind {
	name := at[len(at)-1]
	switch {
	case isManifest(name):
		return Manifest
	case isDocument(at):
		return Document
	case isConfig(name):
		return Config
	case Language(name) != "":
		return Source
	}
	return Other
}

func isManifest(name string) bool {
	switch name {
	case "go.mod", "package.json", "Cargo.toml", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pom.xml",
		"build.gradle", "build.gradle.kts", "composer.json", "Gemfile", "mix.exs", "rebar.config", "Package.swift", "pubspec.yaml",
		"deno.json", "CMakeLists.txt", "meson.build", "go.work", "dune-project", "build.sbt", "project.clj":
		return true
	}
	return strings.HasSuffix(name, ".gemspec") || strings.HasSuffix(name, ".csproj") || strings.HasSuffix(name, ".cabal")
}

func isDocument(at []string) bool {
	name := at[len(at)-1]
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc":
		return true
	case ".txt", "":
		return isDocumentName(name) || path.Ext(name) != "" && underDocs(at)
	}
	return false
}

// isDocumentName knows the names that are prose even without an extension.
func isDocumentName(name string) bool {
	stem := strings.ToUpper(strings.TrimSuffix(name, path.Ext(name)))
	switch stem {
	case "README", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CONTRIBUTORS", "PATENTS", "CHANGES", "CHANGELOG",
		"HISTORY", "NEWS", "INSTALL", "CONTRIBUTING", "SECURITY", "UPGRADING":
		return true
	}
	return false
}

func underDocs(at []string) bool {
	for _, folder := range at[:len(at)-1] {
		switch strings.ToLower(folder) {
		case "doc", "docs", "documentation", "manual", "guides":
			return true
		}
	}
	return false
}

func isConfig(name string) bool {
	switch name {
	case "Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Justfile", "justfile", "Taskfile.yml", "Procfile",
		".env.example", ".env.sample", ".editorconfig", ".gitignore", ".gitattributes", ".dockerignore":
		return true
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env":
		return true
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.HasSuffix(stem, ".config") || strings.HasPrefix(name, "tsconfig") || strings.HasPrefix(name, "Dockerfile.")
}

// placeOf lets the outermost folder that says something decide, except that a
// test below examples is still a test.
func placeOf(at []string) Place {
	if isTestName(at[len(at)-1]) {
		return Test
	}
	place := Product
	for _, folder := range at[:len(at)-1] {
		switch p := folderPlace(strings.ToLower(folder)); {
		case p == Test || p == Meta:
			return p
		case p != Product:
			place = p
		}
	}
	return place
}

func folderPlace(folder string) Place {
	switch folder {
	case "testdata", "test", "tests", "__tests__", "test_data", "test-data", "fixtures", "__fixtures__", "__snapshots__",
		"__mocks__", "mocks", "e2e", "spec", "specs", "benchmarks", "corpus":
		return Test
	case "example", "examples", "_example", "_examples", "sample", "samples", "demo", "demos", "cookbook":
		return Example
	}
	if strings.HasPrefix(folder, ".") {
		return Meta
	}
	return Product
}

func isTestName(name string) bool {
	stem := strings.TrimSuffix(name, path.Ext(name))
	low := strings.ToLower(stem)
	return strings.HasSuffix(low, "_test") || strings.HasSuffix(low, ".test") || strings.HasSuffix(low, ".spec") ||
		strings.HasSuffix(low, "_spec") || strings.HasPrefix(name, "test_") || name == "conftest.py"
}
