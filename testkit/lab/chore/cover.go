package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	module = "github.com/seed889630bf/lastword/"
	lab    = "testkit/lab"
)

// core are the packages whose tests must cover 90 %, and coreTests are these tests, in their short form.
var (
	core      = []string{"messages", "supervision", "actors", "actors/internal/log", "actors/journal"}
	coreTests = []string{"-short", "./messages/...", "./supervision/...", "./actors", "./actors/internal/...", "./actors/journal/...", "./actors/call", "./testkit"}
)

// cover requires that tests cover 90 % of each package of the core and, unless its argument is core, 80 % of each
// transport. The race detector makes counting ten times as dear, so tests run without it.
func cover(args []string) error {
	counted, tests := module+strings.Join(core, ","+module), coreTests
	whole := len(args) == 0
	if whole {
		counted, tests = counted+","+module+"transport/...,"+module+"internal/probe", append(tests, "./internal/...", "./transport/...")
	}
	profiles := []string{"coverage.out"}
	if err := run("", "go", append([]string{"test", "-coverpkg=" + counted, "-coverprofile=" + profiles[0]}, tests...)...); err != nil {
		return err
	}
	if whole {
		profiles = append(profiles, "coverage.lab.out")
		if err := run(lab, "go", "test", "-coverpkg="+counted, "-coverprofile=../../"+profiles[1], "./nats/..."); err != nil {
			return err
		}
	}
	return judge(profiles)
}

// judge adds up the profiles, prints what each package has, and fails where one has too little.
func judge(profiles []string) error {
	sizes, hits := map[string]int{}, map[string]bool{} // by block
	for _, name := range profiles {
		if err := readProfile(name, sizes, hits); err != nil {
			return err
		}
	}
	all, covered := map[string]int{}, map[string]int{} // statements by package
	for block, size := range sizes {
		file, _, _ := strings.Cut(block, ":")
		pkg := strings.TrimPrefix(path.Dir(file), module)
		all[pkg] += size
		if hits[block] {
			covered[pkg] += size
		}
	}
	low := false
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		least, percent := 80.0, 100*float64(covered[pkg])/float64(all[pkg])
		if slices.Contains(core, pkg) {
			least = 90
		}
		low = low || percent < least
		fmt.Printf("%-32s %5.1f %% covered, %.0f %% required\n", pkg, percent, least)
	}
	if low {
		return errors.New("tests cover too little of a package")
	}
	return nil
}

// readProfile reads lines of a profile: FILE:FROM,TO STATEMENTS COUNT.
func readProfile(name string, sizes map[string]int, hits map[string]bool) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var block string
		var statements, count int
		if _, err := fmt.Sscan(lines.Text(), &block, &statements, &count); err != nil {
			continue // the line of the mode
		}
		sizes[block] = statements
		hits[block] = hits[block] || count > 0
	}
	return lines.Err()
}
