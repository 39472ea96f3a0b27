package scan_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/confined"
)

// open unpacks an archive and holds its folder open.
func open(t *testing.T, archive string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data))
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

// fixture is the text of an archive in testdata.
func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	must(t, err)
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

func read(t *testing.T, root *os.Root, limits scan.Limits) *scan.Repository {
	t.Helper()
	repo, err := scan.Read(t.Context(), confined.TreeOf(root), limits, nil, nil)
	must(t, err)
	return repo
}

func paths(repo *scan.Repository) string {
	var list []string
	for _, f := range repo.Files {
		list = append(list, f.Path)
	}
	return strings.Join(list, " ")
}

func left(repo *scan.Repository) string {
	var list []string
	for _, l := range repo.Left {
		list = append(list, fmt.Sprintf("%s: %d files %d folders, %s", l.Reason, l.Files, l.Folders, l.First))
	}
	return strings.Join(list, "\n")
}

func TestReadHeedsIgnoreFiles(t *testing.T) {
	repo := read(t, open(t, fixture(t, "read_heeds_ignore_files")), scan.Limits{})
	if got, want := paths(repo), ".gitignore keep.log other/a.tmp sub/.gitignore sub/build/x.go sub/keep.tmp"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	if got, want := left(repo), "ignored: 4 files 1 folders, a.log\nversion control: 0 files 1 folders, .git"; got != want {
		t.Errorf("left out:\n%s\nwant:\n%s", got, want)
	}
}

func TestReadClassifies(t *testing.T) {
	root := open(t, fixture(t, "read_classifies"))
	repo := read(t, root, scan.Limits{})
	type class struct {
		kind  scan.Kind
		place scan.Place
		pkg   string
	}
	want := map[string]class{
		".github/x.md":        {scan.Document, scan.Meta, ""},
		"README.md":           {scan.Document, scan.Product, ""},
		"config.yaml":         {scan.Config, scan.Product, ""},
		"docs/a.txt":          {scan.Document, scan.Product, ""},
		"examples/a/main.go":  {scan.Source, scan.Example, "main"},
		"gen.go":              {scan.Source, scan.Generated, ""},
		"go.mod":              {scan.Manifest, scan.Product, ""},
		"go.sum":              {scan.Other, scan.Generated, ""},
		"main.go":             {scan.Source, scan.Product, "main"},
		"main_test.go":        {scan.Source, scan.Test, ""},
		"pkg/testdata/in.txt": {scan.Other, scan.Test, ""},
		"tool.go":             {scan.Source, scan.Product, ""},
	}
	got := make(map[string]class)
	for _, f := range repo.Files {
		got[f.Path] = class{f.Kind, f.Place, f.Package}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if again := read(t, root, scan.Limits{}); !reflect.DeepEqual(again, repo) {
		t.Error("a second scan differs from the first")
	}
}

func TestReadTellsTextFromBinary(t *testing.T) {
	root := open(t, "")
	long := strings.Repeat("x", scan.HeadBytes-1)
	for name, text := range map[string]string{
		"nul.txt":     "a\x00b",
		"latin1.txt":  "caf\xe9 au lait",
		"koi8.txt":    "\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2", // Russian before Unicode
		"utf16.txt":   "\xff\xfeh\x00i\x00",
		"utf32.txt":   "\xff\xfe\x00\x00h\x00\x00\x00",
		"noise.txt":   "\x01\x9d\x02\xfe\x03abc",
		"cut.txt":     long + "é",                        // the head ends within a character
		"late.txt":    long + "xx\x00",                   // beyond the head
		"invalid.txt": strings.Repeat("x", 100) + "\xff", // at the end of the whole file
		"lfs.bin2":    "version https://git-lfs.github.com/spec/v1\n",
		"empty.txt":   "",
		"a.png":       "text all the same",
	} {
		write(t, filepath.Join(root.Name(), name), text)
	}
	repo := read(t, root, scan.Limits{})
	if got, want := paths(repo), "cut.txt empty.txt invalid.txt late.txt latin1.txt utf16.txt"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

func TestReadFollowsNoLinks(t *testing.T) {
	root := open(t, "-- in/a.txt --\na\n")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.txt"), "secret")
	for name, target := range map[string]string{
		"inside.txt": "in/a.txt", "folder": "in", "dangling": "nowhere", "loop": "loop",
		"abs.txt": filepath.Join(outside, "secret.txt"), "up.txt": "../../../../etc/passwd", "outside": outside,
	} {
		if err := os.Symlink(target, filepath.Join(root.Name(), name)); err != nil {
			t.Skip(err)
		}
	}
	repo := read(t, root, scan.Limits{})
	if got := paths(repo); got != "in/a.txt" {
		t.Errorf("kept %s", got)
	}
	counts := make(map[scan.Reason]int)
	for _, l := range repo.Left {
		counts[l.Reason] = l.Files
	}
	if want := map[scan.Reason]int{scan.Symlink: 3, scan.Escape: 4}; !reflect.DeepEqual(counts, want) {
		t.Errorf("left out %v, want %v", counts, want)
	}
	for _, name := range []string{"inside.txt", "abs.txt", "in"} {
		if _, _, err := scan.ReadFile(t.Context(), root.FS(), name, 100); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("ReadFile(%s) = %v, want an error that is fs.ErrInvalid", name, err)
		}
	}
	if _, _, err := scan.ReadFile(t.Context(), root.FS(), "../x", 100); err == nil {
		t.Error("ReadFile reads above the root")
	}
}

func TestLimitsCountWhatTheyDrop(t *testing.T) {
	const archive = `
-- z.txt --
1234567890
-- a/a.txt --
1
-- a/b/deep.txt --
1
-- y.txt --
12345
`
	tests := []struct {
		limits     scan.Limits
		kept, left string
	}{
		{scan.Limits{Files: 2}, "y.txt z.txt", "over the limit of files: 2 files 0 folders, a/a.txt"},
		{scan.Limits{FileBytes: 8}, "a/a.txt a/b/deep.txt y.txt", "larger than the file limit: 1 files 0 folders, z.txt"},
		{scan.Limits{TotalBytes: 12}, "a/a.txt a/b/deep.txt y.txt", "over the limit of bytes: 1 files 0 folders, z.txt"},
		{scan.Limits{Depth: 1}, "a/a.txt y.txt z.txt", "deeper than the depth limit: 0 files 1 folders, a/b"},
		{scan.Limits{}, "a/a.txt a/b/deep.txt y.txt z.txt", ""},
	}
	for _, test := range tests {
		repo := read(t, open(t, archive), test.limits)
		if got := paths(repo); got != test.kept {
			t.Errorf("%+v keeps %s, want %s", test.limits, got, test.kept)
		}
		if got := left(repo); got != test.left {
			t.Errorf("%+v leaves %s, want %s", test.limits, got, test.left)
		}
	}
	long := strings.Repeat("picture\n", 16)
	if got := paths(read(t, open(t, "-- a.ipynb --\n"+long+"-- b.ipynb --\n"+long+long+"-- c.md --\n"+long),
		scan.Limits{FileBytes: 8})); got != "a.ipynb" {
		t.Errorf("of large files %s are kept", got)
	}
}

func TestLimitErrorWhenNothingIsLeft(t *testing.T) {
	tests := []struct {
		limits scan.Limits
		want   scan.LimitError
	}{
		{scan.Limits{FileBytes: 1}, scan.LimitError{What: "bytes of one file", Limit: 1}},
		{scan.Limits{TotalBytes: 1}, scan.LimitError{What: "bytes", Limit: 1}},
	}
	for _, test := range tests {
		_, err := scan.Read(t.Context(), open(t, "-- a.txt --\nlong\n").FS(), test.limits, nil, nil)
		if limit, ok := errors.AsType[*scan.LimitError](err); !ok || *limit != test.want {
			t.Errorf("%+v: %v, want %v", test.limits, err, &test.want)
		}
	}
}

func TestReadStopsInHugeFolders(t *testing.T) {
	root := open(t, "")
	for i := range 25 {
		write(t, filepath.Join(root.Name(), "d", fmt.Sprint(i, ".txt")), "x")
	}
	_, err := scan.Read(t.Context(), root.FS(), scan.Limits{Files: 2}, nil, nil)
	if limit, ok := errors.AsType[*scan.LimitError](err); !ok || limit.What != "entries" || limit.Limit != 20 {
		t.Errorf("got %v, want the limit of 20 entries", err)
	}
}

func TestReadHeedsItsContext(t *testing.T) {
	root := open(t, "")
	for i := range 600 {
		write(t, filepath.Join(root.Name(), fmt.Sprint(i, ".txt")), "x")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	heard := 0
	_, err := scan.Read(ctx, root.FS(), scan.Limits{}, nil, func(done int) {
		heard = done
		cancel(cause)
	})
	if err != cause || heard >= 600 {
		t.Errorf("got %v after %d entries, want the cause at the first progress", err, heard)
	}
	if _, _, err := scan.ReadFile(ctx, root.FS(), "1.txt", 10); err != cause {
		t.Errorf("ReadFile returns %v, want the cause", err)
	}
}

func TestReadFileSaysWhetherItIsWhole(t *testing.T) {
	root := open(t, "-- a.txt --\n12345\n")
	for limit, want := range map[int64]string{3: "123 false", 6: "12345\n true", 7: "12345\n true", 5: "12345 false"} {
		data, whole, err := scan.ReadFile(t.Context(), root.FS(), "a.txt", limit)
		if got := fmt.Sprint(string(data), " ", whole); err != nil || got != want {
			t.Errorf("limit %d gives %q, %v, want %q", limit, got, err, want)
		}
	}
}

func TestReadOfAnEmptyFolder(t *testing.T) {
	if repo := read(t, open(t, ""), scan.Limits{}); len(repo.Files) != 0 || repo.Left != nil {
		t.Errorf("got %+v", repo)
	}
}

// Git's index tells which files count, and .gitattributes which are not for users of the repository.
func TestTrackedAndExported(t *testing.T) {
	root := open(t, "-- .gitignore --\n*.log\n-- .gitattributes --\n/README.md export-ignore\n/CONTRIBUTING.md export-ignore\n/docs export-ignore\ninner export-ignore\n-- README.md --\nx\n"+
		"-- CONTRIBUTING.md --\nx\n-- kept.log --\nx\n-- new.md --\nx\n-- new/a.md --\nx\n-- docs/inner/b.md --\nx\n-- docs/c.md --\nx\n-- .lastwordignore --\n!new.md\n")
	tracked := func(path string) bool { return !strings.HasPrefix(path, "new") }
	repo, err := scan.Read(t.Context(), confined.TreeOf(root), scan.Limits{}, tracked, nil)
	must(t, err)
	if got := paths(repo); got != ".gitattributes .gitignore .lastwordignore CONTRIBUTING.md README.md docs/c.md kept.log new.md" {
		t.Error(got)
	}
	if got, want := left(repo), "export-ignore in .gitattributes: 0 files 1 folders, docs/inner\nnot tracked by git: 0 files 1 folders, new"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
}
