package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

// flagHead is the head of a table of flags. flagRow is a row: the flag, its meaning, and its default or nothing.
var (
	flagHead = regexp.MustCompile(`(?m)^\| flag \|.*\n\|.*\n`)
	flagRow  = regexp.MustCompile("(?m)^\\| (`-.+?) \\| (.*?) \\| (?:(`.*?`|[^|]*?) )?\\|.*\n")
)

// manuals writes a manual page for lastword and for each of its commands, from the page of the command line.
func manuals(folder, version string) error {
	text, err := os.ReadFile(filepath.Join(root, "docs", "cli.md"))
	if err != nil {
		return err
	}
	text = flagRow.ReplaceAll(flagHead.ReplaceAll(text, nil), []byte("$1\n: $2 (default $3)\n\n"))
	pages := strings.NewReplacer(" (default )", "", `\|`, "|").Replace(string(text))
	for i, section := range strings.Split(pages, "\n## lastword ") {
		name, body, _ := strings.Cut(section, "\n")
		name = "lastword-" + strings.ReplaceAll(name, " ", "-")
		_, about, _ := strings.Cut(body, "```\n\n")
		if i == 0 {
			name, about = "lastword", "run jobs whose events are streamed"
		}
		about, _, _ = strings.Cut(strings.ReplaceAll(about, "\n", " "), ". ")
		page := fmt.Sprintf("%% %s 1 \"\" \"lastword %s\"\n\n# NAME\n\n%s - %s\n\n# DESCRIPTION\n%s",
			strings.ToUpper(name), version, name, about, body)
		if err := os.WriteFile(filepath.Join(folder, name+".1"), md2man.Render([]byte(page)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
