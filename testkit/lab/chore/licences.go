package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// texts tell licences apart by a sentence. The first that occurs counts.
var texts = []struct{ sentence, licence string }{
	{"Apache License", "Apache-2.0"},
	{"Mozilla Public License", "MPL-2.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Permission to use, copy, modify, and", "ISC"},
	{"Neither the name", "BSD-3-Clause"},
	{"Redistribution and use in source", "BSD-2-Clause"},
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)

// licences lists the modules and packages that the binary holds, each with its licence. An unknown one is an error.
func licences([]string) error {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/lastword").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		module := strings.Split(line, "\t")
		if len(module) != 3 {
			continue // a package of this module
		}
		licence, err := licenceIn(module[2])
		if err != nil {
			return fmt.Errorf("%s %s: %w", module[0], module[1], err)
		}
		fmt.Printf("%-14s %s %s\n", licence, module[0], module[1])
	}
	fmt.Println("MIT            npm: preact, @preact/signals and marked, in the page")
	return nil
}

func licenceIn(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(files, func(f os.DirEntry) bool { return licenceFile.MatchString(f.Name()) })
	if i < 0 {
		return "", fmt.Errorf("no file of a licence in %s", dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, files[i].Name()))
	if err != nil {
		return "", err
	}
	text := strings.Join(strings.Fields(string(data)), " ")
	for _, known := range texts {
		if strings.Contains(text, known.sentence) {
			return known.licence, nil
		}
	}
	return "", fmt.Errorf("the licence in %s is not known", files[i].Name())
}
