package render_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var update = flag.Bool("update", false, "accept what the golden files have become")

// Each archive in testdata is a repository; its comment may name "remote", "commit" and "prefix". The files below
// want/ are what must come of it.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	must(t, err)
	got := make(map[string][]byte)
	for range 2 { // the second time must give the same bytes
		for file, data := range generate(t, archive) {
			if before, ok := got[file]; ok && !bytes.Equal(before, data) {
				t.Errorf("%s differs from one run to the next", file)
			}
			got[file] = data
		}
	}
	if _, problems := llmstxt.Parse(string(got["want/llms.txt"])); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	accepted(t, got["want/llms-ctx.txt"])
	if *update {
		accept(t, name, archive, got)
		return
	}
	for file, data := range got {
		if want := content(archive, file); !bytes.Equal(data, want) {
			t.Errorf("%s is\n%s\nwant\n%s", file, data, want)
		}
	}
}

func generate(t *testing.T, archive *txtar.Archive) map[string][]byte {
	repo, root := unpack(t, archive)
	index, err := rank.Build(t.Context(), root.FS(), repo, rank.Options{}, nil)
	must(t, err)
	var txt, full, ctx bytes.Buffer
	must(t, render.Txt(&txt, index))
	_, err = render.Full(t.Context(), &full, root.FS(), index, render.Pack{})
	must(t, err)
	_, err = render.Ctx(t.Context(), &ctx, root.FS(), index, render.Format2, render.Pack{})
	must(t, err)
	return map[string][]byte{"want/llms.txt": txt.Bytes(), "want/llms-full.txt": full.Bytes(), "want/llms-ctx.txt": ctx.Bytes()}
}

func unpack(t *testing.T, archive *txtar.Archive) (*scan.Repository, *os.Root) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "folder@v1.0.0")
	must(t, os.Mkdir(dir, 0o755))
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			continue
		}
		must(t, root.MkdirAll(filepath.Dir(f.Name), 0o755))
		must(t, root.WriteFile(f.Name, f.Data, 0o644))
	}
	repo, err := scan.Read(t.Context(), root.FS(), scan.Limits{}, nil, nil)
	must(t, err)
	set := settings(archive)
	repo.Name = "folder"
	repo.Origin = scan.ParseOrigin(set["remote"], set["commit"], set["prefix"])
	return repo, root
}

func settings(archive *txtar.Archive) map[string]string {
	set := make(map[string]string)
	for line := range strings.Lines(string(archive.Comment)) {
		if key, value, ok := strings.Cut(line, ": "); ok {
			set[key] = strings.TrimSpace(value)
		}
	}
	return set
}

func content(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func accept(t *testing.T, name string, archive *txtar.Archive, got map[string][]byte) {
	kept := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			kept.Files = append(kept.Files, f)
		}
	}
	for _, file := range []string{"want/llms.txt", "want/llms-full.txt", "want/llms-ctx.txt"} {
		kept.Files = append(kept.Files, txtar.File{Name: file, Data: got[file]})
	}
	must(t, os.WriteFile(name, txtar.Format(kept), 0o644))
}

var must = fatal.IfError
