package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	pages = "bin/pages"
	built = "bin/site"
)

// source matches a link to a file of the repository that is no page.
var source = regexp.MustCompile(`\]\((?:\.\./)?((?:actors|cmd|internal|messages|supervision|testkit|transport)[^):]*)\)`)

// site builds bin/site from README.md and docs, with each page as Markdown beside it and an llms.txt. Debian's
// mkdocs-material has the generator and its theme. Links to sources lead to the repository.
func site([]string) error {
	if err := os.RemoveAll(pages); err != nil {
		return err
	}
	top, err := filepath.Glob("*.md")
	if err != nil {
		return err
	}
	for _, name := range append(top, "LICENSE") {
		if err := copyFile(name, filepath.Join(pages, name)); err != nil {
			return err
		}
	}
	if err := eachPage("docs", func(page string) error { return copyFile(page, filepath.Join(pages, page)) }); err != nil {
		return err
	}
	// generate sees the pages alone; the generator of the site also needs the pictures beside them.
	index := pages + "/llms.txt"
	if err := run("", "go", "run", "./cmd/lastword", "generate", pages, "--output", index, "--ref", "relative", "--fresh", "--quiet"); err != nil {
		return err
	}
	if err := os.RemoveAll(pages + "/docs"); err != nil {
		return err
	}
	if err := os.CopyFS(pages+"/docs", os.DirFS("docs")); err != nil {
		return err
	}
	if err := eachPage(pages, linkSources); err != nil {
		return err
	}
	if err := run("", "mkdocs", "build", "--quiet", "--strict", "--config-file", "docs/mkdocs.yml"); err != nil {
		return err
	}
	if err := eachPage(pages, func(page string) error {
		return copyFile(page, filepath.Join(built, strings.TrimPrefix(page, pages)))
	}); err != nil {
		return err
	}
	return run("", "go", "run", "./cmd/lastword", "check", built+"/llms.txt")
}

func eachPage(dir string, do func(page string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		return do(path)
	})
}

func linkSources(page string) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	link := fmt.Sprintf("](https://%stree/main/$1)", module)
	return os.WriteFile(page, source.ReplaceAll(data, []byte(link)), 0o644)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
