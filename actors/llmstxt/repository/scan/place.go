package scan

import (
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// placeBelow returns the place of a folder. The outermost informative folder decides, except that a test below
// examples is still a test. Below a source root, names are those of packages, org/springframework/samples, and carry
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
