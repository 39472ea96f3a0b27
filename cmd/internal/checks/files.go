package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository"
)

// Limits of what check reads: bytes per file; depth, entries and files per folder.
const (
	checkBytes   = 16 << 20
	checkDepth   = 32
	checkEntries = 1_000_000
	checkFiles   = 10_000
)

// material checks a file, the files below a folder, or a URL.
func (c *checker) material(ctx context.Context, what string) error {
	if scheme, _, ok := strings.Cut(what, "://"); ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) {
		text, err := repository.Document(ctx, what, c.allow, checkBytes)
		if err != nil {
			return err
		}
		return c.text(ctx, what, "", string(text))
	}
	info, err := os.Stat(what)
	switch {
	case err != nil:
		return messages.InvalidInput("cannot read %s: %v", what, exit.Reason(err))
	case !info.IsDir():
		return c.file(ctx, what)
	}
	names, err := textsBelow(ctx, what)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return messages.InvalidInput("no file below %s is called llms.txt or *-llms.txt", what)
	}
	for _, name := range names {
		if err := c.file(ctx, filepath.Join(what, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) file(ctx context.Context, name string) error {
	text, err := readFile(name)
	if err != nil {
		return err
	}
	return c.text(ctx, name, filepath.Dir(name), string(text))
}

func readFile(name string) ([]byte, error) {
	text, err := regular.Read(name, checkBytes)
	if err != nil && !errors.Is(err, regular.ErrTooLarge) {
		err = messages.InvalidInput("cannot read %s: %v", name, exit.Reason(err))
	}
	return text, err
}

// text checks a text. folder is the folder of its file, or "" if it is not from a local file.
func (c *checker) text(ctx context.Context, name, folder, text string) error {
	doc, problems := llmstxt.Parse(text)
	f := &checkedFile{Path: name, Title: doc.Title, Sections: len(doc.Sections), Problems: []checkProblem{}}
	for _, p := range problems {
		if c.strict || !p.Rule.Strict() {
			f.problem(p.Line, p.Rule, p.Severity(), "%s", p.Message)
		}
	}
	links := doc.Links()
	if doc.Summary == "" {
		f.problem(1, ruleSummary, llmstxt.SeverityWarning, "there is no summary; add a line such as > What this is, in a sentence.")
	}
	if len(links) == 0 {
		f.problem(1, ruleLinks, llmstxt.SeverityWarning, "there are no links; add a section: ## Docs, and - [title](url): note")
	}
	f.Links = len(links)
	if err := c.targets(f, folder, links); err != nil {
		return err
	}
	if c.links {
		c.reach(ctx, f, links)
	}
	if c.compares && folder != "" {
		if err := c.compare(ctx, f, cmp.Or(c.repository, settings.RepositoryOf(folder)), doc); err != nil {
			return err
		}
	} else if c.stale || c.compares {
		if err := c.fresh(ctx, f, folder, doc); err != nil {
			return err
		}
	}
	stable.Sort(f.Problems, func(a, b checkProblem) int { return a.Line - b.Line })
	c.report.Files = append(c.report.Files, f)
	return nil
}

// textsBelow returns the files to check below the folder, sorted and with slashes. It does not follow links.
func textsBelow(ctx context.Context, folder string) (names []string, err error) {
	root, err := regular.Root(folder)
	if err != nil {
		return nil, messages.InvalidInput("cannot read %s: %v", folder, exit.Reason(err))
	}
	defer root.Close()
	entries := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if entries++; entries > checkEntries {
			return messages.LimitExceeded("%s holds more than %s files and folders; name one below it", folder, words.Thousands(checkEntries))
		}
		switch {
		case err != nil:
			return fmt.Errorf("cannot read the files below %s: %w", folder, err)
		case d.IsDir() && (d.Name() == ".git" || strings.Count(name, "/") >= checkDepth):
			return fs.SkipDir
		case d.Type().IsRegular() && (d.Name() == "llms.txt" || strings.HasSuffix(d.Name(), "-llms.txt")):
			names = append(names, name)
		}
		if len(names) > checkFiles {
			return messages.LimitExceeded("%s holds more than %s to check; name a folder below it", folder, words.Count(checkFiles, "file"))
		}
		return ctx.Err()
	})
	slices.Sort(names)
	return names, err
}
