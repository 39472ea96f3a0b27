package scan

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
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
	parts := strings.Split(folder, "/")
	for i, part := range parts {
		switch part {
		case "java", "kotlin", "scala", "groovy", "clojure":
			if i > 1 && parts[i-2] == "src" {
				return strings.Join(parts[:i+1], "/")
			}
		case "com", "org":
			if i > 0 && (parts[i-1] == "src" || parts[i-1] == "java") {
				return strings.Join(parts[:i+1], "/")
			}
		}
	}
	return ""
}

func folderPlace(name string) Place {
	switch low := strings.ToLower(name); {
	case is("test folder", low):
		return Test
	case is("example folder", low):
		return Example
	case strings.HasPrefix(name, "."):
		return Meta
	case prose.EndsWithAny(name, ".Tests", ".Test", "UnitTests", ".Specs"):
		return Test
	}
	return Product
}

// isTestName takes test.js for a test at the top alone: further down a command may have that name.
func isTestName(name string, top bool) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	low := strings.ToLower(stem)
	if prose.EndsWithAny(low, "_test", ".test", ".spec", "_spec", ".cy", ".e2e") {
		return true
	}
	switch ext {
	case ".java", ".kt", ".scala", ".groovy", ".cs", ".fs", ".php", ".swift":
		return isTestClass(stem, ext)
	case ".py", ".js", ".mjs", ".cjs", ".ts", ".rb":
		if low == "test" && top || low == "tests" {
			return true
		}
	case ".snap", ".golden":
		return true
	}
	return strings.HasPrefix(name, "test_") || name == "conftest.py"
}

// isTestClass goes by the names that are customary where a file is a class.
func isTestClass(stem, ext string) bool {
	for _, end := range []string{"Test", "Tests", "TestCase"} {
		if strings.HasSuffix(stem, end) && len(stem) > len(end) {
			return true
		}
	}
	// In Java and C# a Spec is a specification as a rule.
	return strings.HasSuffix(stem, "Spec") && (ext == ".scala" || ext == ".groovy" || ext == ".kt" || ext == ".swift")
}
