package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/archive"
)

// One tree in every format, by file and by URL, whatever the name promises.
func TestReadEveryFormat(t *testing.T) {
	bzipped, err := os.ReadFile("testdata/thing.tar.bz2")
	must(t, err)
	entries := []entry{
		{name: "thing-1.2.3/README.md", text: "# Thing\n"},
		{name: "thing-1.2.3/src/", kind: tar.TypeDir},
		{name: "thing-1.2.3/src/a.go", text: "package a\n"},
	}
	plain := tarOf(t, entries...)
	for format, data := range map[string][]byte{
		"tar": plain, "tar.gz": gz(t, plain), "tar.bz2": bzipped, "zip": zipOf(t, "", entries...),
	} {
		url, o := web(t, send(data))
		for _, source := range []string{save(t, "thing-1.2.3."+format, data), save(t, "lies.zip.tar.gz.bz2", data),
			url + "/thing-1.2.3." + format, url + "/?download=1"} {
			a, err := archive.Read(t.Context(), source, o, nil)
			expect(t, a, err, "README.md: # Thing\n", "src/a.go: package a\n")
			if err != nil {
				continue
			}
			must(t, fstest.TestFS(a.Files, "README.md", "src/a.go"))
			if a.Skipped != (archive.Skipped{}) {
				t.Errorf("%s: %+v", source, a)
			}
			if a.Name != "thing" && !strings.Contains(source, "lies") {
				t.Errorf("%s: the name is %q", source, a.Name)
			}
		}
	}
}

func TestReadOfWhatGitPacks(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir, out := t.TempDir(), t.TempDir()
	run := func(args ...string) string {
		args = append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	long := strings.Repeat("long/", 60) + "file"
	must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(long)), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, long), []byte("deep"), 0o600))
	must(t, os.Symlink("../outside", filepath.Join(dir, "link")))
	run("init", "-q")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	commit := run("rev-parse", "HEAD")
	for _, format := range []string{"tar", "tar.gz", "zip"} {
		file := filepath.Join(out, "a."+format)
		run("archive", "--prefix=r-"+commit[:12]+"/", "-o", file, "HEAD")
		a, err := archive.Read(t.Context(), file, archive.Options{}, nil)
		expect(t, a, err, "link -> ../outside", long+": deep")
		if err == nil && (a.Commit != commit || a.Name != "a") {
			t.Errorf("%s: the commit is %q, the name %q", format, a.Commit, a.Name)
		}
	}
}

func TestReadBelievesHashesOnlyAsCommits(t *testing.T) {
	for comment, want := range map[string]string{
		strings.Repeat("0a", 20): strings.Repeat("0a", 20),
		strings.Repeat("0a", 32): strings.Repeat("0a", 32),
		strings.Repeat("0A", 20): "", strings.Repeat("x", 40): "", "0a0a0a0": "",
	} {
		for _, data := range [][]byte{tarFrom(t, comment, files("a")...), zipOf(t, comment, files("a")...)} {
			a, err := read(t, data, archive.Limits{})
			expect(t, a, err, "a: text of a")
			if err == nil && a.Commit != want {
				t.Errorf("%q gives the commit %q", comment, a.Commit)
			}
		}
	}
}

// Nothing that leads out of the archive on any system gets a place in it.
func TestReadLeavesOutUnsafeNames(t *testing.T) {
	unsafe := files("/etc/passwd", "//host/share", "../up", "a/../../up", "a/..", "..", `..\up`, `a\b`, `\\host\share`,
		"C:/windows", "c:up", "z:", "bad\xff.txt", ".", "./", "a/../b")
	entries := append(files("keep/a", "./keep//b", "keep/./c"), unsafe...)
	for _, data := range [][]byte{tarOf(t, entries...), zipOf(t, "", entries...)} {
		a, err := read(t, data, archive.Limits{})
		expect(t, a, err, "a: text of keep/a", "b: text of ./keep//b", "c: text of keep/./c")
		// "./" is a folder in both formats, and so is what ends in a slash.
		if err == nil && a.Skipped.Paths != len(unsafe)-1 {
			t.Errorf("%d names were left out, want %d", a.Skipped.Paths, len(unsafe)-1)
		}
	}
	a, err := read(t, zipOf(t, "", append(files("a"), files("nul\x00.txt")...)...), archive.Limits{})
	expect(t, a, err, "a: text of a")
	_, err = read(t, tarOf(t, files("../a", "/b")...), archive.Limits{})
	expectError(t, err, "invalid_input", "no file with a safe name (2 were left out)")
}

func TestReadKeepsTheFirstOfAName(t *testing.T) {
	entries := []entry{
		{name: "a", text: "first"}, {name: "a", text: "second"}, {name: "./a", text: "third"},
		{name: "A", text: "capital"},
		{name: "a/below", text: "a file is no folder"},
		{name: "dir/x", text: "x"}, {name: "dir", text: "a folder is no file"},
		{name: "link", target: "/etc"}, {name: "link/passwd", text: "not through a link"},
	}
	for _, data := range [][]byte{tarOf(t, entries...), zipOf(t, "", entries...)} {
		a, err := read(t, data, archive.Limits{})
		expect(t, a, err, "A: capital", "a: first", "dir/x: x", "link -> /etc")
		if err == nil && a.Skipped.Duplicates != 5 {
			t.Errorf("%d duplicates, want 5", a.Skipped.Duplicates)
		}
	}
}

func TestReadLeavesOutSpecialFiles(t *testing.T) {
	a, err := read(t, tarOf(t, entry{name: "a", text: "a"}, entry{name: "hard", kind: tar.TypeLink, target: "a"},
		entry{name: "pipe", kind: tar.TypeFifo}, entry{name: "tty", kind: tar.TypeChar},
		entry{name: "disk", kind: tar.TypeBlock}), archive.Limits{})
	expect(t, a, err, "a: a")
	if err == nil && a.Skipped.Special != 4 {
		t.Errorf("%d special files, want 4", a.Skipped.Special)
	}
	a, err = read(t, zipOf(t, "", entry{name: "a", text: "a"}, entry{name: "pipe", kind: tar.TypeFifo}), archive.Limits{})
	expect(t, a, err, "a: a")
	if err == nil && a.Skipped.Special != 1 {
		t.Errorf("%d special files, want 1", a.Skipped.Special)
	}
}

// Links are listed and read by nobody.
func TestReadFollowsNoLinks(t *testing.T) {
	entries := []entry{{name: "out", target: "/etc/passwd"}, {name: "in", target: "a"}, {name: "loop", target: "loop"},
		{name: "a", text: "a"}, {name: "long", target: strings.Repeat("x", 90)}}
	for _, data := range [][]byte{tarOf(t, entries...), zipOf(t, "", entries...)} {
		a, err := read(t, data, archive.Limits{PathBytes: 80})
		expect(t, a, err, "a: a", "in -> a", "loop -> loop", "out -> /etc/passwd")
		for _, name := range []string{"in", "out", "loop"} {
			if data, err := fs.ReadFile(a.Files, name); err == nil {
				t.Errorf("%s reads as %q", name, data)
			}
		}
	}
}

func TestReadCutsTheTopFolder(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"top/a", "top/b/c"}, "a b/c"},
		{[]string{"package/package.json"}, "package.json"},
		{[]string{"top/only/a"}, "only/a"}, // one folder alone
		{[]string{"top/a", "other"}, "other top/a"}, {[]string{"top/a", "Top/b"}, "Top/b top/a"},
		{[]string{"a"}, "a"}, {[]string{"top/a", "../up", "/abs"}, "a"},
	} {
		a, err := read(t, tarOf(t, files(c.names...)...), archive.Limits{})
		must(t, err)
		var got []string
		for line := range strings.Lines(list(t, a.Files)) {
			name, _, _ := strings.Cut(line, ":")
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q became %q, want %q", c.names, got, c.want)
		}
	}
}

func TestReadListsLargeFilesWithoutTheirContents(t *testing.T) {
	entries := []entry{{name: "large", text: strings.Repeat("x", 101)}, {name: "just", text: strings.Repeat("y", 100)}}
	for _, data := range [][]byte{tarOf(t, entries...), zipOf(t, "", entries...)} {
		a, err := read(t, data, archive.Limits{FileBytes: 100})
		must(t, err)
		info, err := fs.Stat(a.Files, "large")
		if err != nil || info.Size() != 101 || a.Skipped != (archive.Skipped{}) {
			t.Errorf("got %v, %v, %+v", info, err, a)
		}
		_, err = fs.ReadFile(a.Files, "large")
		expectError(t, err, "limit_exceeded", "larger than 100 bytes")
		if data, err := fs.ReadFile(a.Files, "just"); len(data) != 100 || err != nil {
			t.Errorf("got %d bytes, %v", len(data), err)
		}
	}
}

func TestReadOpensNoNestedArchive(t *testing.T) {
	inner := gz(t, tarOf(t, files("inside")...))
	entries := append(files("b"), entry{name: "inner.tar.gz", text: string(inner)})
	a, err := read(t, tarOf(t, entries...), archive.Limits{})
	must(t, err)
	if data, err := fs.ReadFile(a.Files, "inner.tar.gz"); !bytes.Equal(data, inner) || err != nil {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
}

func TestReadSaysWhatIsNoArchive(t *testing.T) {
	for text, part := range map[string]string{
		"":                       "is empty",
		"hello":                  "not an archive",
		strings.Repeat("x", 600): "not an archive",
		"\xfd7zXZ\x00rest":       "compressed with xz", "\x28\xb5\x2f\xfdrest": "compressed with zstd",
		"7z\xbc\xaf\x27\x1crest": "7-Zip", "Rar!\x1a\x07": "RAR", "LZIP\x01": "lzip",
		"<!DOCTYPE html><p>log in": "web page", "\n <html lang=en>": "web page",
		string(gz(t, []byte("one file, no tar"))): "no tar archive is in it",
		string(gz(t, nil)):                        "no tar archive is in it",
		"\x1f\x8bnonsense":                        "damaged",
		"BZhnonsense":                             "damaged",
		"PK\x03\x04nonsense":                      "damaged",
	} {
		_, err := read(t, []byte(text), archive.Limits{})
		expectError(t, err, "invalid_input", part)
	}
}

func TestReadOfEmptyArchives(t *testing.T) {
	folder := tarOf(t, entry{name: "dir/", kind: tar.TypeDir})
	for _, data := range [][]byte{tarOf(t), gz(t, tarOf(t)), zipOf(t, ""), folder} {
		a, err := read(t, data, archive.Limits{})
		expect(t, a, err)
	}
}

// Every way to cut a packed archive short is an error; a plain tar does not tell its end.
func TestReadOfCutArchives(t *testing.T) {
	plain, file := tarOf(t, files("a/x", "a/y", "b")...), save(t, "cut", nil)
	for _, data := range [][]byte{gz(t, plain), zipOf(t, "", files("a/x", "a/y", "b")...), plain[:len(plain)-1024-512]} {
		for size := range data {
			must(t, os.WriteFile(file, data[:size], 0o600))
			_, err := archive.Read(t.Context(), file, archive.Options{}, nil)
			mayEnd := &data[0] == &plain[0] && size >= 512
			if messages.CodeOf(err) != "invalid_input" && (!mayEnd || err != nil) {
				t.Fatalf("%d of %d bytes: %v", size, len(data), err)
			}
		}
	}
}

func TestReadFindsDamage(t *testing.T) {
	plain := tarOf(t, files("a", "b")...)
	packed := gz(t, plain)
	packed[len(packed)-6] ^= 1 // the checksum
	_, err := read(t, packed, archive.Limits{})
	expectError(t, err, "invalid_input", "damaged")
	plain[1024+20] ^= 1 // the second header
	_, err = read(t, plain, archive.Limits{})
	expectError(t, err, "invalid_input", "damaged")
}

func TestReadToleratesPadding(t *testing.T) {
	packed := gz(t, tarOf(t, files("a")...))
	for _, padding := range []string{"\x00\x00\x00", strings.Repeat("\x00", 10_000), "garbage"} {
		a, err := read(t, append(slices.Clone(packed), padding...), archive.Limits{})
		expect(t, a, err, "a: text of a")
	}
}

// Tools that pack in parallel write one member after the other.
func TestReadOfManyGzipMembers(t *testing.T) {
	plain := tarOf(t, files("a", "b")...)
	var data []byte
	for chunk := range slices.Chunk(plain, 100) {
		data = append(append(data, gz(t, chunk)...), gz(t, nil)...)
	}
	a, err := read(t, data, archive.Limits{})
	expect(t, a, err, "a: text of a", "b: text of b")
	_, err = read(t, data[:len(data)-5], archive.Limits{})
	expectError(t, err, "invalid_input", "cut off")
}

// A zip whose entries are bad keeps the others.
func TestReadLeavesOutBrokenEntries(t *testing.T) {
	a, err := read(t, rawZip(t, "good", "checksum", "size", "bigger", "method", "encrypted"), archive.Limits{})
	expect(t, a, err, "good: stored")
	if err == nil && a.Skipped.Broken != 5 {
		t.Errorf("%d broken entries, want 5", a.Skipped.Broken)
	}
	_, err = read(t, rawZip(t, "encrypted"), archive.Limits{})
	expectError(t, err, "invalid_input", "1 are encrypted")
}

func rawZip(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		f, err := w.CreateRaw(rawHeader(name))
		must(t, err)
		_, err = f.Write([]byte("stored"))
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// rawHeader is of the text "stored", but for what its name says is wrong.
func rawHeader(name string) *zip.FileHeader {
	h := &zip.FileHeader{Name: name, CompressedSize64: 6, UncompressedSize64: 6}
	h.CRC32 = crc32.ChecksumIEEE([]byte("stored"))
	switch name {
	case "checksum":
		h.CRC32++
	case "size":
		h.UncompressedSize64 = 5
	case "bigger":
		h.UncompressedSize64 = 7
	case "method":
		h.Method = 99
	case "encrypted":
		h.Flags = 1
	}
	return h
}

func TestReadOfLocalFiles(t *testing.T) {
	file := save(t, "a b%20c.tar", tarOf(t, files("x")...))
	a, err := archive.Read(t.Context(), file, archive.Options{}, nil)
	expect(t, a, err, "x: text of x")

	_, err = archive.Read(t.Context(), "file://"+save(t, "a.tar", tarOf(t, files("x")...)), archive.Options{}, nil)
	expectError(t, err, "invalid_input", "file URLs are not allowed")
	a, err = archive.Read(t.Context(), "file://"+save(t, "a.tar", tarOf(t, files("x")...)),
		archive.Options{Allow: archive.Allow{File: true}}, nil)
	expect(t, a, err, "x: text of x")

	_, err = archive.Read(t.Context(), filepath.Join(t.TempDir(), "nobody.tar"), archive.Options{}, nil)
	expectError(t, err, "invalid_input", "nobody.tar", "no such file")
	_, err = archive.Read(t.Context(), t.TempDir(), archive.Options{}, nil)
	expectError(t, err, "invalid_input", "not a regular file")
	_, err = archive.Read(t.Context(), os.DevNull, archive.Options{}, nil)
	expectError(t, err, "invalid_input", "not a regular file")
}

// A tar of the Unix of 1979 has no magic bytes, and a name of 4 KiB many records.
func TestReadOfOldAndLongHeaders(t *testing.T) {
	old := make([]byte, 1536)
	copy(old, "old.txt")
	copy(old[100:], "0000644\x000000000\x000000000\x0000000000003\x0000000000000\x00")
	seal(old[:512])
	copy(old[512:], "old")
	a, err := read(t, old, archive.Limits{})
	expect(t, a, err, "old.txt: old")

	long := strings.Repeat("n", 4096)
	for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		must(t, w.WriteHeader(&tar.Header{Name: long, Size: 1, Mode: 0o644, Format: format}))
		_, err := w.Write([]byte("x"))
		must(t, errors.Join(err, w.Close()))
		a, err := read(t, out.Bytes(), archive.Limits{})
		expect(t, a, err, long+": x")
	}
}

// sparse is a GNU tar of files that say to be of size bytes, all of them a hole.
func sparse(size int64, names ...string) []byte {
	var out []byte
	for _, name := range names {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000644\x000000000\x000000000\x0000000000000\x0000000000000\x00        S")
		copy(h[257:], "ustar  \x00")
		number := func(at int, n int64) { h[at] = 0x80; binary.BigEndian.PutUint64(h[at+4:], uint64(n)) }
		number(386, size)
		number(398, 0)
		number(483, size)
		seal(h)
		out = append(out, h...)
	}
	return append(out, make([]byte, 1024)...)
}

// seal puts the checksum into a tar header.
func seal(header []byte) {
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
}
