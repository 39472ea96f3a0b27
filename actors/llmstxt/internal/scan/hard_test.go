package scan_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/fatal"
)

func TestNamesOfAllKinds(t *testing.T) {
	root := open(t, "")
	names := []string{"a b.md", "[x](y).md", "new\nline.md", "..md", "a..b.md", "Case.md", "case.md", "ünï.md", "-x.md",
		"'\"<>.md", "sp ace/in/side.md", "..dots/x.md", `back\slash.md`}
	for _, name := range names {
		write(t, filepath.Join(root.Name(), name), "# Text\n")
	}
	write(t, filepath.Join(root.Name(), "bad\xff.md"), "x")
	write(t, filepath.Join(root.Name(), "bad\xfe", "in.md"), "x")
	repo := read(t, root, scan.Limits{})
	kept := make(map[string]bool)
	for _, f := range repo.Files {
		kept[f.Path] = true
		text, whole, err := scan.ReadFile(t.Context(), root.FS(), f.Path, 100)
		if string(text) != "# Text\n" || !whole || err != nil {
			t.Errorf("%q reads as %q, %v", f.Path, text, err)
		}
	}
	for _, name := range names {
		if !kept[name] {
			t.Errorf("%q is not kept", name)
		}
	}
	if got, want := left(repo), "name is not UTF-8: 1 files 1 folders, bad\uFFFD"; got != want || len(kept) != len(names) {
		t.Errorf("%d kept, left out:\n%s\nwant:\n%s", len(kept), got, want)
	}
}

func TestOfAHugeFileOnlyTheHeadIsRead(t *testing.T) {
	root := open(t, "")
	huge := filepath.Join(root.Name(), "huge.txt")
	write(t, huge, strings.Repeat("text\n", 4<<10))
	if err := os.Truncate(huge, 2<<30); err != nil {
		t.Skip(err)
	}
	files := &counted{FS: confined.TreeOf(root)}
	_, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
	if limit, ok := errors.AsType[*scan.LimitError](err); !ok || limit.What != "bytes of one file" || files.bytes > 0 {
		t.Errorf("%v after %d bytes, want the limit without reading", err, files.bytes)
	}
	repo, err := scan.Read(t.Context(), files, scan.Limits{FileBytes: 4 << 30, TotalBytes: 4 << 30}, nil, nil)
	if err != nil || len(repo.Files) != 1 || files.bytes > scan.HeadBytes {
		t.Errorf("%v after %d bytes, want the file after its head", err, files.bytes)
	}
	text, whole, err := scan.ReadFile(t.Context(), confined.TreeOf(root), "huge.txt", 1000)
	if err != nil || whole || len(text) != 1000 {
		t.Errorf("%d bytes, whole %v, %v", len(text), whole, err)
	}
}

// counted counts the bytes that are read.
type counted struct {
	fs.FS
	bytes int
}

func (c *counted) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	return &countedFile{f, c}, nil
}

type countedFile struct {
	fs.File
	of *counted
}

func (f *countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.of.bytes += n
	return n, err
}

// crowd is a file system of one folder, or of folders of a thousand, with so many files in all.
type crowd struct {
	files  int
	flat   bool
	listed int
}

func (c *crowd) Open(name string) (fs.File, error) {
	switch {
	case name == "." && c.flat:
		return &crowdDir{of: c, kind: "f", left: c.files, mode: 0}, nil
	case name == ".":
		return &crowdDir{of: c, kind: "d", left: c.files / 1000, mode: fs.ModeDir}, nil
	case !c.flat && !strings.Contains(name, "/"):
		return &crowdDir{of: c, kind: "f", left: 1000, mode: 0}, nil
	}
	return fstest.MapFS{"f": {Data: []byte("# Text\n")}}.Open("f")
}

type crowdDir struct {
	fs.File
	of   *crowd
	kind string // the letter that names begin with
	left int
	mode fs.FileMode
}

func (d *crowdDir) Close() error { return nil }

func (d *crowdDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n = min(n, d.left); n == 0 {
		return nil, io.EOF
	}
	list := make([]fs.DirEntry, n)
	for i := range list {
		d.left--
		d.of.listed++
		list[i] = crowdEntry{d.name(), d.mode}
	}
	return list, nil
}

// name has seven digits.
func (d *crowdDir) name() string {
	name := d.kind + strconv.Itoa(10_000_000 + d.left)[1:]
	if d.mode == 0 {
		name += ".md"
	}
	return name
}

type crowdEntry struct {
	name string
	mode fs.FileMode
}

func (e crowdEntry) Name() string               { return e.name }
func (e crowdEntry) IsDir() bool                { return e.mode.IsDir() }
func (e crowdEntry) Type() fs.FileMode          { return e.mode }
func (e crowdEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

func TestAMillionFiles(t *testing.T) {
	for _, flat := range []bool{true, false} {
		files := &crowd{files: 1_000_000, flat: flat}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
		runtime.ReadMemStats(&after)
		limit, ok := errors.AsType[*scan.LimitError](err)
		if !ok || limit.What != "entries" || limit.Limit != 500_000 || !strings.Contains(err.Error(), "--max-files") {
			t.Errorf("flat %v: %v, want the limit of entries", flat, err)
		}
		if files.listed > 510_000 {
			t.Errorf("flat %v: %d entries have been listed", flat, files.listed)
		}
		if used := after.HeapSys - min(before.HeapSys, after.HeapSys); used > 256<<20 {
			t.Errorf("flat %v: the heap has grown by %d MiB", flat, used>>20)
		}
	}
}

func TestMoreFilesThanTheLimit(t *testing.T) {
	files := &crowd{files: 20_000}
	repo, err := scan.Read(t.Context(), files, scan.Limits{Files: 2500}, nil, nil)
	if err != nil || len(repo.Files) != 2500 || repo.Files[2499].Path != "d0000002/f0000499.md" {
		t.Fatalf("%v, want the first 2500 files", err)
	}
	if got, want := left(repo), "over the limit of files: 17500 files 0 folders, d0000002/f0000500.md"; got != want {
		t.Errorf("left out:\n%s\nwant:\n%s", got, want)
	}
}

func TestUnreadable(t *testing.T) {
	files := denied{fstest.MapFS{"a.md": {}, "locked/x.md": {}, "secret.md": {}}}
	repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
	must(t, err)
	if got, want := left(repo), "unreadable: 1 files 1 folders, secret.md"; got != want || paths(repo) != "a.md" {
		t.Errorf("left out:\n%s\nwant:\n%s", got, want)
	}
	if _, _, err := scan.ReadFile(t.Context(), files, "secret.md", 10); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, want that it is not permitted", err)
	}
}

// denied is a file system with files that nobody may read.
type denied struct{ fs.FS }

func (d denied) Open(name string) (fs.File, error) {
	if name == "locked" || name == "secret.md" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.FS.Open(name)
}

// lying is a file system whose files have another size when they are read than when they are looked at.
type lying struct {
	fs.FS
	size int64
}

type lyingFile struct {
	fs.File
	info fs.FileInfo
}

type sized struct {
	fs.FileInfo
	size int64
}

func (l lying) Open(name string) (fs.File, error) {
	f, err := l.FS.Open(name)
	if name == "." || err != nil {
		return f, err
	}
	info, err := l.stat(name)
	return lyingFile{f, info}, err
}

func (l lying) stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(l.FS, name)
	return sized{info, l.size}, err
}

func (l lying) Lstat(name string) (fs.FileInfo, error) { return l.stat(name) }
func (l lying) ReadLink(string) (string, error)        { return "", fs.ErrInvalid }
func (f lyingFile) Stat() (fs.FileInfo, error)         { return f.info, nil }
func (i sized) Size() int64                            { return i.size }

func TestFilesThatGrowAndShrink(t *testing.T) {
	text := strings.Repeat("0123456789\n", 1000)
	for _, size := range []int64{-1, 0, 1, 11, 1 << 19, 1 << 62} {
		files := lying{fstest.MapFS{"a.txt": {Data: []byte(text)}}, size}
		repo, err := scan.Read(t.Context(), files, scan.Limits{FileBytes: 1 << 62, TotalBytes: 1 << 62}, nil, nil)
		if err != nil || len(repo.Files) != 1 {
			t.Errorf("size %d: %v", size, err)
		}
		got, whole, err := scan.ReadFile(t.Context(), files, "a.txt", 1<<20)
		if string(got) != text || !whole || err != nil {
			t.Errorf("size %d: %d bytes, whole %v, %v", size, len(got), whole, err)
		}
	}
}

func TestFolderIsAsTheRootIs(t *testing.T) {
	root := open(t, fixture(t, "folder_is_as_the_root_is"))
	if err := os.Symlink("../../README.md", filepath.Join(root.Name(), "a", "b", "link.md")); err != nil {
		t.Skip(err)
	}
	one, err := scan.Read(t.Context(), confined.TreeOf(root), scan.Limits{}, nil, nil)
	must(t, err)
	other, err := scan.Read(t.Context(), root.FS(), scan.Limits{}, nil, nil)
	if err != nil || !reflect.DeepEqual(one, other) {
		t.Errorf("%v\n%+v\n%+v", err, one, other)
	}
	want := "ignored: 1 files 0 folders, a/b/x.tmp\nsymlink: 1 files 0 folders, a/b/link.md"
	if got := left(one); got != want {
		t.Errorf("left out:\n%s\nwant:\n%s", got, want)
	}
}

func TestLimitErrorsNameTheirFlag(t *testing.T) {
	for what, flag := range map[string]string{
		"entries": "--max-files", "files": "--max-files", "bytes of one file": "--max-file-size", "bytes": "--max-bytes",
		"depth": "first 32 levels of folders",
	} {
		if err := (&scan.LimitError{What: what, Limit: 32}); !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Thousands of patterns against thousands of files: where they have no wildcards they cost nothing, else the scan
// says what takes too long.
func TestIgnoreRulesWithoutEnd(t *testing.T) {
	for pattern, refused := range map[string]bool{"name%d": false, "/docs/%d/": false, "*a*a*b%d": true} {
		var rules strings.Builder
		for i := range 5500 {
			fmt.Fprintf(&rules, pattern+"\n", i)
		}
		files := fstest.MapFS{".gitignore": {Data: []byte(rules.String())}}
		for i := range 2000 {
			files[fmt.Sprintf("src/%d%s.md", i, strings.Repeat("a", 60))] = &fstest.MapFile{Data: []byte("# A\n")}
		}
		repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
		limit, said := errors.AsType[*scan.LimitError](err)
		if said != refused || said && !strings.Contains(limit.Error(), ".gitignore") {
			t.Errorf("%s: %v", pattern, err)
		}
		if !refused && (err != nil || len(repo.Files) < 2000) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

var must = fatal.IfError
