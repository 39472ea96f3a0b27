package tree_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/transport/internal/tree"
)

var (
	_ fs.ReadFileFS = (*tree.Tree)(nil)
	_ fs.ReadLinkFS = (*tree.Tree)(nil)
)

func add(t *testing.T, files *tree.Tree, name, text string) {
	t.Helper()
	err := files.File(name, int64(len(text)), func() ([]byte, error) { return []byte(text), nil })
	must(t, err)
}

func some(t *testing.T, names ...string) *tree.Tree {
	t.Helper()
	files := new(tree.Tree)
	for _, name := range names {
		add(t, files, name, "text of "+name)
	}
	return files
}

func names(t *testing.T, files fs.FS, dir string) []string {
	t.Helper()
	entries, err := fs.ReadDir(files, dir)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestIsAFileSystem(t *testing.T) {
	paths := []string{"b", "a", "README.md", "readme.md", "d/e/f/g", "d/e/h", "d/i", "a b/[x] (y)\n.md", "日本/語"}
	must(t, fstest.TestFS(some(t, paths...), paths...))
	if err := fstest.TestFS(new(tree.Tree)); err != nil {
		t.Errorf("the empty tree: %v", err)
	}
}

func TestContentsAreAskedForWhenRead(t *testing.T) {
	files, asked := new(tree.Tree), 0
	err := files.File("a", 3, func() ([]byte, error) { asked++; return []byte("abc"), nil })
	must(t, err)
	f, err := files.Open("a")
	must(t, err)
	if info, err := f.Stat(); err != nil || info.Size() != 3 || asked != 0 {
		t.Fatalf("Stat: %v, %v after %d calls", info, err, asked)
	}
	if text, err := io.ReadAll(f); string(text) != "abc" || err != nil || asked != 1 {
		t.Errorf("read %q, %v after %d calls", text, err, asked)
	}
}

func TestAReadingThatFailsSaysOfWhat(t *testing.T) {
	files, broken := new(tree.Tree), errors.New("broken")
	must(t, files.File("d/a", 3, func() ([]byte, error) { return nil, broken }))
	f, err := files.Open("d/a")
	must(t, err)
	_, err = f.Read(make([]byte, 1))
	_, err2 := fs.ReadFile(files, "d/a")
	for _, err := range []error{err, err2} {
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "d/a") {
			t.Errorf("got %v", err)
		}
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	files := some(t, "d/file")
	must(t, files.Symlink("link", "d"))
	for name, want := range map[string]error{
		"": fs.ErrInvalid, ".": fs.ErrInvalid, "..": fs.ErrInvalid, "/a": fs.ErrInvalid, "a/": fs.ErrInvalid,
		"a//b": fs.ErrInvalid, "a/../b": fs.ErrInvalid, "./a": fs.ErrInvalid, "a/.": fs.ErrInvalid,
		"\xff": fs.ErrInvalid, "new/\xc3(": fs.ErrInvalid,
		"d": fs.ErrExist, "d/file": fs.ErrExist, "d/file/x": fs.ErrExist, "d/file/x/y": fs.ErrExist,
		"link": fs.ErrExist, "link/x": fs.ErrExist,
	} {
		if err := files.File(name, 0, nil); !errors.Is(err, want) {
			t.Errorf("File(%q): %v, want %v", name, err, want)
		}
		if err := files.Symlink(name, "x"); !errors.Is(err, want) {
			t.Errorf("Symlink(%q): %v, want %v", name, err, want)
		}
	}
	if got := names(t, files, "."); !slices.Equal(got, []string{"d", "link"}) {
		t.Errorf("what was refused left %q", got)
	}
}

func TestLinksAreNeverFollowed(t *testing.T) {
	files := some(t, "d/file")
	for name, target := range map[string]string{"l": "d", "d/up": "../../etc/passwd", "loop": "loop", "file": "d/file"} {
		must(t, files.Symlink(name, target))
		info, err := fs.Lstat(files, name)
		if err != nil || info.Mode().Type() != fs.ModeSymlink || info.Name() != path.Base(name) {
			t.Errorf("Lstat(%s): %v, %v", name, info, err)
		}
		if got, err := fs.ReadLink(files, name); got != target || err != nil {
			t.Errorf("ReadLink(%s): %q, %v", name, got, err)
		}
		for op, err := range readings(files, name) {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s(%s): %v", op, name, err)
			}
		}
	}
	for op, err := range readings(files, "l/file") {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s through a link: %v", op, err)
		}
	}
	if _, err := files.ReadLink("d"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadLink of a folder: %v", err)
	}
}

func readings(files *tree.Tree, name string) map[string]error {
	_, open := files.Open(name)
	_, read := fs.ReadFile(files, name)
	_, list := fs.ReadDir(files, name)
	_, stat := fs.Stat(files, name)
	return map[string]error{"Open": open, "ReadFile": read, "ReadDir": list, "Stat": stat}
}

func TestReadingsOfTheWrongKind(t *testing.T) {
	files := some(t, "d/file")
	_, list := fs.ReadDir(files, "d/file")
	_, read := fs.ReadFile(files, "d")
	folder, err := files.Open("d")
	must(t, err)
	_, readFolder := folder.Read(make([]byte, 1))
	for _, err := range []error{list, read, readFolder} {
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
	file, err := files.Open("d/file")
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}

func TestManyReadAtOnce(t *testing.T) {
	files := some(t, "a", "d/b", "d/c")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := fstest.TestFS(files, "a", "d/b", "d/c"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A million files, named as in a large repository, must fit in 300 MB; a fifth of them in a fifth of it.
func TestFilesTakeLittleMemory(t *testing.T) {
	const count, each = 200_000, 300
	before, files := heap(), new(tree.Tree)
	for i := range count {
		name := fmt.Sprintf("packages/module%03d/internal/component%02d/some_file_name_%d.go", i/10_000, i/100%100, i)
		must(t, files.File(name, 1, func() ([]byte, error) { return []byte{byte(i)}, nil }))
	}
	if used := heap() - before; used > count*each {
		t.Errorf("a file takes %d bytes, want at most %d", used/count, each)
	}
	text, err := fs.ReadFile(files, "packages/module012/internal/component34/some_file_name_123456.go")
	if err != nil || text[0] != 64 {
		t.Errorf("read %v, %v", text, err)
	}
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func FuzzNames(f *testing.F) {
	for _, seed := range []string{"a\x00b/c\x00b", "../x\x00/y", "a\x00a/b\x00a", "\xff", "a//b", "a/b/c\x00a/b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, all string) {
		files := new(tree.Tree)
		var added []string
		for name := range strings.SplitSeq(all, "\x00") {
			if files.File(name, 0, func() ([]byte, error) { return nil, nil }) == nil {
				added = append(added, name)
			}
		}
		found := 0
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found++
			}
			return err
		})
		if err != nil || found != len(added) {
			t.Errorf("%q: %d files, %v, want %d", all, found, err, len(added))
		}
	})
}

var must = fatal.IfError
