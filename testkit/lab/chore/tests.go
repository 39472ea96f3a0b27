package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)`)
	updateFlag = regexp.MustCompile(`flag\.Bool\("update"`)
)

// fuzz fuzzes each target for a time, such as 20s. Making a new input smaller took nearly all of the time: of archives
// 10 were tried in 20 s.
func fuzz(args []string) error {
	targets, err := testsWith(".", fuzzTarget)
	if err != nil {
		return err
	}
	for _, pkg := range slices.Sorted(maps.Keys(targets)) {
		for _, target := range targets[pkg] {
			fmt.Println(pkg, target)
			if err := run(pkg, "go", "test", "-run", "^$", "-fuzz", "^"+target+"$", "-fuzztime", args[0], "-fuzzminimizetime", "1x", "."); err != nil {
				return err
			}
		}
	}
	return nil
}

// update has each package with a flag -update rewrite its golden files and the documents that it makes. Its arguments are
// the folders of modules; one below another is left to its own turn.
func update(modules []string) error {
	for _, module := range modules {
		packages, err := testsWith(module, updateFlag)
		if err != nil {
			return err
		}
		args := []string{"test"}
		for _, pkg := range slices.Sorted(maps.Keys(packages)) {
			rel, err := filepath.Rel(module, pkg)
			if err != nil {
				return err
			}
			args = append(args, "./"+rel)
		}
		if err := run(module, "go", append(args, "-update")...); err != nil {
			return err
		}
	}
	return nil
}

// testsWith returns, by folder of the module, what the expression finds in its tests: its group, or the whole.
func testsWith(module string, expression *regexp.Regexp) (map[string][]string, error) {
	found := map[string][]string{}
	return found, filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != module && isModule(path) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		for _, match := range expression.FindAllStringSubmatch(string(data), -1) {
			found[filepath.Dir(path)] = append(found[filepath.Dir(path)], match[len(match)-1])
		}
		return err
	})
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
