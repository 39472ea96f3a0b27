package scan

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
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

func isManifest(name string) bool {
	ext := path.Ext(name)
	return is("manifest", name) || is("manifest extension", ext) ||
		ext == ".txt" && strings.HasPrefix(name, "requirements")
}

func isDocument(name string, docs bool, language string) bool {
	switch ext := extension(name); {
	case is("document extension", ext):
		return true
	case ext == ".txt":
		return docs || isDocumentName(name)
	default:
		return language == "" && isDocumentName(name) && (ext == "" || isReadme(name) || isLicence(name))
	}
}

// isDocumentName recognizes names of prose even without an extension.
func isDocumentName(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	return is("document stem", stem) || isLicence(name) || isReadme(name)
}

// isReadme also accepts a language after the name: README.zh-CN, README_ja.txt.
func isReadme(name string) bool { return readme.MatchString(name) }

// isManPage requires both a section as the extension and the macros of a man page in the text.
func isManPage(name string, head []byte) bool {
	return manual.MatchString(path.Ext(name)) && macro.Match(head)
}

var (
	readme     = regexp.MustCompile(`(?i)^readme([.\-_]|$)`)
	manual     = regexp.MustCompile(`^\.([1-9].{0,3}|man|mdoc|roff)$`)
	macro      = regexp.MustCompile(`(?m)^\.(TH|Dd|SH) `)
	toolConfig = regexp.MustCompile(`\.config\.([cm]?[jt]s|json)$`) // settings that are written as code: vite.config.ts
)

func isConfig(name string) bool {
	return is("config", name) || is("config extension", extension(name)) || isRunControl(name) ||
		toolConfig.MatchString(name) || prose.StartsWithAny(name, "tsconfig", "jsconfig", "Dockerfile.")
}

// isRunControl recognizes the dot files that configure tools: .npmrc, .eslintrc.json, .gitignore, .tool-versions.
func isRunControl(name string) bool {
	if !strings.HasPrefix(name, ".") {
		return false
	}
	stem, _, _ := strings.Cut(name[1:], ".")
	return is("config stem", stem) || strings.HasSuffix(stem, "rc") || strings.HasSuffix(stem, "ignore")
}
