package scan

import (
	"bytes"
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/packed"
)

// kindOf returns the kind of a file. docs: the file is in a folder for documents.
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

// isDocument reports whether the name is one of prose. In a folder for documents, every .txt is prose.
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
	readme     = lazyregexp.New(`(?i)^readme([.\-_]|$)`)
	manual     = lazyregexp.New(`^\.([1-9].{0,3}|man|mdoc|roff)$`)
	macro      = lazyregexp.New(`(?m)^\.(TH|Dd|SH) `)
	toolConfig = lazyregexp.New(`\.config\.([cm]?[jt]s|json)$`) // settings that are written as code: vite.config.ts
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

// isVendored recognizes the folders that tools fill.
func isVendored(name string) bool {
	return is("vendored folder", strings.ToLower(name)) || endsAs("vendored end", name)
}

// isForeign recognizes a folder by its content: marks of tools, or another licence in a folder for foreign code.
func isForeign(at string, entries []entry) bool {
	others := is("foreign folder", strings.ToLower(path.Base(path.Dir(at))))
	return slices.ContainsFunc(entries, func(e entry) bool {
		return e.mode.IsRegular() && (is("vendored mark", e.name) || others && isLicence(e.name))
	})
}

func isLicence(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	stem, _, _ = strings.Cut(stem, "-")
	return is("licence", stem)
}

// placeBelow returns the place of a folder. The outermost informative folder decides, except that a test below
// examples is still a test. Below a source root, names are package names, org/springframework/samples, and carry
// no information.
func placeBelow(above Place, docs bool, folder string) Place {
	name := path.Base(folder)
	topic := docs && is("topic folder", strings.ToLower(name))
	if above == Test || above == Meta || topic || SourceRoot(path.Dir(folder)) != "" {
		return above
	}
	if p := folderPlace(name); p != Product {
		return p
	}
	if folder == "t" || folder == "xt" {
		return Test // Perl
	}
	if path.Base(path.Dir(folder)) == "src" && strings.HasSuffix(name, "Test") {
		return Test // a source set of Kotlin: src/commonTest
	}
	return above
}

// SourceRoot returns the folder at or above the given one below which folders are packages: src/main/java, or a path
// that continues like a domain, src/com/example. It returns "" if there is none.
func SourceRoot(folder string) string {
	root := sourceRoot.FindStringSubmatch(folder)
	if root == nil {
		return ""
	}
	return root[1]
}

var sourceRoot = lazyregexp.New(
	`^((?:.*?/)??(?:(?:src|java)/(?:com|org)|src/[^/]*/(?:java|kotlin|scala|groovy|clojure)))(?:/|$)`)

// folderPlace returns the place that a folder's own name tells, or Product if it tells none.
func folderPlace(name string) Place {
	switch low := strings.ToLower(name); {
	case is("test folder", low):
		return Test
	case is("example folder", low):
		return Example
	case strings.HasPrefix(name, "."):
		return Meta
	case prose.EndsWithAny(name, "Tests", "Test", "_tests", "_test", "-tests", ".Specs", "Benchmarks", "benchmarks"):
		return Test
	}
	return Product
}

// isTestName accepts test.js as a test only at the top, because deeper down a command may have that name. Classes are
// recognized by customary names; in Java and C#, a Spec usually is a specification.
func isTestName(name string, top bool) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	low := strings.ToLower(stem)
	switch {
	case endsAs("test end", low), is("test extension", ext), strings.HasPrefix(name, "test_"), name == "conftest.py":
		return true
	case is("class extension", ext):
		class, isTest := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(stem, "Case"), "s"), "Test")
		return isTest && class != "" || strings.HasSuffix(stem, "Spec") && is("spec extension", ext)
	case is("script extension", ext):
		return low == "test" && top || low == "tests"
	}
	return false
}

// namesText is the table of names, and explains its own form.
//
//go:embed names.txt.gz
var namesText string

// names maps each category, such as "manifest" or "language", to its names; for languages the value is the language,
// and otherwise "".
var names = sync.OnceValue(func() map[string]map[string]string {
	all := make(map[string]map[string]string)
	for line := range strings.Lines(string(packed.Text(namesText))) {
		what, list, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		value := ""
		for _, kind := range []string{"language", "interpreted"} {
			if which, ok := strings.CutPrefix(what, kind+" "); ok {
				what, value = kind, which
			}
		}
		if all[what] == nil {
			all[what] = make(map[string]string)
		}
		for name := range strings.FieldsSeq(list) {
			all[what][name] = value
		}
	}
	return all
})

// is reports whether the name belongs to the category.
func is(what, name string) bool {
	_, ok := names()[what][name]
	return ok
}

// endsAs reports whether the name ends like names of the category, from a dot, dash or underscore on.
func endsAs(what, name string) bool {
	for i := range name {
		if strings.IndexByte("._-", name[i]) >= 0 && is(what, name[i:]) {
			return true
		}
	}
	return false
}

// Language returns the programming or markup language of a file by its name, or "".
func Language(name string) string { return names()["language"][extension(name)] }

// extension returns the extension in lower case.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// languageOf returns the language by the file's name, or else by its first line.
func languageOf(name string, head []byte) string {
	language := Language(name)
	switch {
	case language == "TypeScript" && bytes.HasPrefix(head, []byte("<")): // translations of Qt
		return ""
	case language == "" && path.Ext(name) == ".m" && objectiveC.Match(head):
		return "Objective-C"
	case language == "" && bytes.HasPrefix(head, []byte("#!")):
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		return interpreted(string(line))
	}
	return language
}

var objectiveC = lazyregexp.New("#import|#include|@interface|@implementation|@protocol")

// interpreted returns the language of a "#!" line.
func interpreted(line string) string {
	words := strings.Fields(line)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	return names()["interpreted"][strings.TrimRight(path.Base(words[0]), "0123456789.")]
}
