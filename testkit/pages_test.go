package testkit_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/text"
)

// page is what the tests look at in a page of Markdown.
type page struct {
	links   []string // as written
	anchors []string // of its headings, as GitHub makes them
	code    []string // the texts in backticks
}

// readPages reads the pages for people, by their paths relative to the module's root.
func readPages(t *testing.T) map[string]page {
	t.Helper()
	all := map[string]page{}
	for _, under := range []string{"../*.md", "../docs/*.md", "../docs/*/*.md", "../.github/*.md", "../.github/*/*.md"} {
		names, _ := filepath.Glob(under)
		for _, name := range names {
			data, err := os.ReadFile(name)
			must(t, err)
			all[filepath.ToSlash(strings.TrimPrefix(name, filepath.FromSlash("../")))] = readPage(data)
		}
	}
	return all
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

func readPage(data []byte) (p page) {
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(markdown.NewReader(data))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.CodeSpan:
			p.code = append(p.code, words(n, data))
		case *ast.Heading:
			anchor := strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(words(n, data)), ""), " ", "-")
			for again, first := 1, anchor; slices.Contains(p.anchors, anchor); again++ {
				anchor = fmt.Sprint(first, "-", again)
			}
			p.anchors = append(p.anchors, anchor)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// words is the text of a node, without its markup.
func words(n ast.Node, data []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Value(data))
		} else {
			b.WriteString(words(c, data))
		}
	}
	return b.String()
}

// TestLinksLead holds that each link of a page within this repository leads to a file, and to a heading of it.
func TestLinksLead(t *testing.T) {
	all := readPages(t)
	for name, p := range all {
		for _, link := range p.links {
			if strings.Contains(link, ":") {
				continue
			}
			to, anchor, _ := strings.Cut(link, "#")
			target := name
			if to != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), to))
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s links to %s: %v", name, link, err)
			} else if anchor != "" && !slices.Contains(all[target].anchors, anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", name, link, target)
			}
		}
	}
}

var inRepository = regexp.MustCompile(`^(actors|cmd|docs|internal|messages|supervision|testkit|transport)/[\w./-]*$`)

// TestPagesNamePaths holds that a path of this repository that a page has in backticks is there. What a release has had may be gone.
func TestPagesNamePaths(t *testing.T) {
	for name, p := range readPages(t) {
		for _, code := range p.code {
			if name == "CHANGELOG.md" || !inRepository.MatchString(code) {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", code)); err != nil {
				t.Errorf("%s names %s: %v", name, code, err)
			}
		}
	}
}

var testsOf = regexp.MustCompile("`((?:actors|cmd|internal|messages|supervision|testkit|transport)[\\w/]*)` ((?:(?:Test|Fuzz)[\\w/]+(?:, )?)+)")

// TestPagesNameTests holds that a test that a page names after its package is there.
func TestPagesNameTests(t *testing.T) {
	for name := range readPages(t) {
		data, err := os.ReadFile(filepath.Join("..", name))
		must(t, err)
		for _, m := range testsOf.FindAllSubmatch(data, -1) {
			var source []byte
			files, _ := filepath.Glob(filepath.Join("..", string(m[1]), "*_test.go"))
			for _, file := range files {
				text, err := os.ReadFile(file)
				must(t, err)
				source = append(source, text...)
			}
			for test := range strings.SplitSeq(strings.TrimSuffix(string(m[2]), ", "), ", ") {
				if test, _, _ = strings.Cut(test, "/"); !strings.Contains(string(source), "func "+test+"(") {
					t.Errorf("%s names %s of %s, which has no such test", name, test, m[1])
				}
			}
		}
	}
}

var (
	station    = regexp.MustCompile("(?m)^\\| `([^`]+\\.[a-z]+)` \\| (.*) \\|$")
	identifier = regexp.MustCompile("`(?:\\w+\\.)*(\\w+)`")
)

// TestWalks holds that the walks of docs/design.md lead through files that declare the names of their rows.
func TestWalks(t *testing.T) {
	data, err := fs.ReadFile(os.DirFS(".."), "docs/design.md")
	must(t, err)
	stations := station.FindAllStringSubmatch(string(data), -1)
	if len(stations) < 75 {
		t.Errorf("the walks have %d stations", len(stations))
	}
	for _, s := range stations {
		code, err := os.ReadFile(filepath.Join("..", s[1]))
		if err != nil {
			t.Error(err)
		}
		for _, name := range identifier.FindAllStringSubmatch(s[2], -1) {
			if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |(export )?(class|function) |  )` + name[1] + `[(\[ ]`).Match(code) {
				t.Errorf("%s does not declare %s", s[1], name[1])
			}
		}
	}
}

// A pull request is checked with a token that reads, without secrets, and by actions that nobody can exchange.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no workflow", err)
	}
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		text := string(data)
		if !strings.Contains(text, "\npermissions:\n  contents: read\n") || strings.Count(text, "permissions:") != 1 {
			t.Errorf("%s: its only permission is not contents: read", file)
		}
		for _, denied := range []string{"pull_request_target", "secrets.", "workflow_run", "write"} {
			if strings.Contains(text, denied) {
				t.Errorf("%s has %s", file, denied)
			}
		}
		for _, use := range regexp.MustCompile(`uses: *(.*)`).FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(use[1]) {
				t.Errorf("%s: %s is not pinned by digest", file, use[1])
			}
		}
	}
}
