package scan

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// placeBelow is the place of a folder. The outermost folder that says something decides, except that a test below
// examples is still a test. Below a source root the names are those of packages, org/springframework/samples, and say
// nothing.
func placeBelow(above Place, docs bool, folder string) Place {
	name := path.Base(folder)
	if above == Test || above == Meta || docs && mayBeTopic(name) || SourceRoot(path.Dir(folder)) != "" {
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
	switch strings.ToLower(name) {
	case "testdata", "test", "tests", "__tests__", "_tests", "test_data", "test-data", "test-fixtures",
		"testfixtures", "fixture", "fixtures", "__fixtures__", "__snapshots__", "__mocks__", "cassettes", "e2e",
		"spec", "specs", "benchmarks", "corpus", "androidtest", "integrationtest", "testcases", "testsuite",
		"unittests", "snapshots", "golden", "goldens", "mocks":
		return Test
	case "example", "examples", "_example", "_examples", "sample", "samples", "demo", "demos", "cookbook":
		return Example
	}
	switch {
	case strings.HasPrefix(name, "."):
		return Meta
	case strings.HasSuffix(name, ".Tests"), strings.HasSuffix(name, ".Test"), strings.HasSuffix(name, "UnitTests"),
		strings.HasSuffix(name, ".Specs"):
		return Test
	}
	return Product
}

// mayBeTopic tells the folders for tests of which documents may just as well treat.
func mayBeTopic(folder string) bool {
	return slices.Contains([]string{"test", "tests", "spec", "specs", "e2e", "benchmarks", "snapshots", "golden",
		"mocks", "fixtures"}, strings.ToLower(folder))
}

func isDocs(folder string) bool {
	return slices.Contains([]string{"doc", "docs", "documentation", "manual", "guides"}, strings.ToLower(folder))
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
