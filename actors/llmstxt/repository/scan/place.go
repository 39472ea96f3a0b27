package scan

import (
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// placeBelow is the place of a folder. The outermost folder that says something decides, except that a test below
// examples is still a test. Below a source root the names are those of packages, org/springframework/samples, and say
// nothing.
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
		return Test // of Perl
	}
	if path.Base(path.Dir(folder)) == "src" && strings.HasSuffix(name, "Test") {
		return Test // a source set of Kotlin: src/commonTest
	}
	return above
}

// SourceRoot is the folder at or above the given one below which folders are packages: src/main/java, or where a path
// goes on as a domain does, src/com/example. It is "" where there is none.
func SourceRoot(folder string) string {
	root := sourceRoot.FindStringSubmatch(folder)
	if root == nil {
		return ""
	}
	return root[1]
}

var sourceRoot = regexp.MustCompile(
	`^((?:.*?/)??(?:(?:src|java)/(?:com|org)|src/[^/]*/(?:java|kotlin|scala|groovy|clojure)))(?:/|$)`)

func folderPlace(name string) Place {
	switch low := strings.ToLower(name); {
	case is("test folder", low):
		return Test
	case is("example folder", low):
		return Example
	case strings.HasPrefix(name, "."):
		return Meta
	case prose.EndsWithAny(name, "Tests", "Test", "_tests", "_test", "-tests", ".Specs"):
		return Test
	}
	return Product
}

// isTestName takes test.js for a test at the top alone: further down a command may have that name. Classes go by the
// names that are customary; in Java and C# a Spec is a specification as a rule.
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
