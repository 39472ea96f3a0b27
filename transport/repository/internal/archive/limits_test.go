package archive_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/archive"
)

// Every limit is an error that names it and its flag, in each format.
func TestLimits(t *testing.T) {
	noise := strings.Repeat("0123456789abcdef", 64)
	many, deep := files("a", "b", "c", "d"), files("1/2/3/4/x")
	fat := []entry{{name: "a", text: noise}, {name: "b", text: noise}}
	long := files(strings.Repeat("n", 41))
	for _, c := range []struct {
		limits  archive.Limits
		entries []entry
		parts   []string
	}{
		{archive.Limits{WireBytes: 100}, fat, []string{"larger than 100 bytes", "--max-download"}},
		{archive.Limits{UnpackedBytes: 1500}, fat, []string{"1500 bytes", "--max-bytes"}},
		{archive.Limits{Files: 3}, many, []string{"more than 3 files", "--max-files"}},
		{archive.Limits{Files: 3}, deep, []string{"more than 3 folders", "--max-files"}},
		{archive.Limits{Depth: 3}, deep, []string{"4 folders", "--max-depth", "limit of 3"}},
		{archive.Limits{PathBytes: 40}, long, []string{"path of 41 bytes", "40 are the limit"}},
	} {
		plain := tarOf(t, c.entries...)
		for format, data := range map[string][]byte{"tar": plain, "tar.gz": gz(t, plain), "zip": zipOf(t, "", c.entries...)} {
			_, err := read(t, data, c.limits)
			expectError(t, err, "limit_exceeded", c.parts...)
			if t.Failed() {
				t.Fatalf("%s with %+v", format, c.limits)
			}
			_, err = read(t, data, archive.Limits{})
			must(t, err)
		}
	}
}

// A limit met exactly is no limit exceeded.
func TestLimitsAreInclusive(t *testing.T) {
	entries := files("1/2/3/x", "y", "z")
	plain := tarOf(t, entries...)
	size := int64(len(plain))
	limits := archive.Limits{WireBytes: size, UnpackedBytes: size, Files: 3, Depth: 3, PathBytes: 7}
	a, err := read(t, plain, limits)
	expect(t, a, err, "1/2/3/x: text of 1/2/3/x", "y: text of y", "z: text of z")
	limits.WireBytes--
	_, err = read(t, plain, limits)
	expectError(t, err, "limit_exceeded", "--max-download")
}

// Bombs end soon after they show, not when they have unpacked.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	var entries []entry
	for i := range 20 {
		entries = append(entries, entry{name: strconv.Itoa(i), text: zeros})
	}
	bzipped, err := os.ReadFile("testdata/bomb.tar.bz2")
	must(t, err)
	for name, data := range map[string][]byte{
		"tar.gz": gz(t, tarOf(t, entries...)), "zip": zipOf(t, "", entries...), "tar.bz2": bzipped,
		"sparse": sparse(1<<20, strings.Split(strings.Repeat("x ", 20), " ")...),
	} {
		_, err := read(t, data, archive.Limits{})
		expectError(t, err, "limit_exceeded", "more than 100 times its size")
		_, err = read(t, data, archive.Limits{Ratio: 1 << 40, UnpackedBytes: 8 << 20})
		expectError(t, err, "limit_exceeded", "--max-bytes")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// A sparse file of many gigabytes is listed; nobody fills its hole.
func TestLargeSparseFilesStayHoles(t *testing.T) {
	a, err := read(t, sparse(1<<50, "huge"), archive.Limits{})
	must(t, err)
	if info, err := fs.Stat(a.Files, "huge"); err != nil || info.Size() != 1<<50 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// The directory of a zip need not say how long it is.
func TestZipsWithEndlessDirectories(t *testing.T) {
	var out bytes.Buffer
	header := make([]byte, 46, 47)
	copy(header, "PK\x01\x02")
	binary.LittleEndian.PutUint16(header[28:], 1) // a name of one byte
	header = append(header, '/')                  // a folder, which counts as no file
	const entries = 65536 + 1                     // 1 modulo 65536, as the end says
	out.WriteString("PK\x03\x04")
	for range entries {
		out.Write(header)
	}
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	binary.LittleEndian.PutUint16(end[8:], 1)
	binary.LittleEndian.PutUint16(end[10:], 1)
	binary.LittleEndian.PutUint32(end[12:], uint32(out.Len()-4))
	binary.LittleEndian.PutUint32(end[16:], 4)
	out.Write(end)
	_, err := read(t, out.Bytes(), archive.Limits{Files: 1000})
	expectError(t, err, "limit_exceeded", "--max-files")
}

// Who sends for ever is heard until a limit is met.
func TestEndlessDownloads(t *testing.T) {
	packed := gz(t, tarOf(t, files("a")...))
	for name, more := range map[string][]byte{
		"noise": bytes.Repeat([]byte("noise"), 1000), "empty members": bytes.Repeat(gz(t, nil), 1000),
		"zeros": gz(t, make([]byte, 1<<20)),
	} {
		url, o := web(t, func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(packed)
			for err == nil {
				_, err = w.Write(more)
			}
		})
		o.Limits.WireBytes = 1 << 20
		_, err := archive.Read(t.Context(), url, o, nil)
		expectError(t, err, "limit_exceeded")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// What says that it is too large is not downloaded at all.
func TestContentLengthOverTheLimit(t *testing.T) {
	url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1048577")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	o.Limits.WireBytes = 1 << 20
	_, err := archive.Read(t.Context(), url, o, nil)
	expectError(t, err, "limit_exceeded", "--max-download")
}

// Whatever the bytes are: an error with a code, or files within the limits whose names stay inside.
func FuzzRead(f *testing.F) {
	bzipped, err := os.ReadFile("testdata/thing.tar.bz2")
	must(f, err)
	entries := append(files("top/a", "top/b/c", "top/../up", "/abs", `top\d`, "top/a"),
		entry{name: "top/link", target: "../../etc"}, entry{name: "top/pipe", kind: tar.TypeFifo})
	plain := tarFrom(f, strings.Repeat("0a", 20), entries...)
	long := tarOf(f, files(strings.Repeat("long/", 30)+"name")...)
	for _, seed := range [][]byte{plain, gz(f, plain), bzipped, zipOf(f, strings.Repeat("0a", 20), entries...), long,
		sparse(600, "hole"), sparse(1<<40, "huge"), zipOf(f, ""), nil} {
		f.Add(seed)
	}
	limits := archive.Limits{WireBytes: 64 << 10, UnpackedBytes: 64 << 10, FileBytes: 1 << 10, Files: 20, Depth: 40,
		PathBytes: 300}
	file := save(f, "fuzzed", nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		must(t, os.WriteFile(file, data, 0o600))
		a, err := archive.Read(t.Context(), file, archive.Options{Limits: limits}, nil)
		if err != nil {
			if code := messages.CodeOf(err); code != "invalid_input" && code != "limit_exceeded" {
				t.Fatalf("the error %v has the code %q", err, code)
			}
			return
		}
		hold(t, a, limits)
	})
}

// hold checks what is promised of every archive.
func hold(t *testing.T, a *archive.Archive, limits archive.Limits) {
	count, size := 0, int64(0)
	must(t, fs.WalkDir(a.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || len(name) > limits.PathBytes {
			t.Errorf("the name %q is kept", name)
		}
		if d.Type() != 0 {
			_, err := fs.ReadLink(a.Files, name)
			return err
		}
		data, err := fs.ReadFile(a.Files, name)
		if err != nil && messages.CodeOf(err) != "limit_exceeded" {
			t.Errorf("%s: %v", name, err)
		}
		size += int64(len(data))
		return nil
	}))
	if count > limits.Files || size > limits.UnpackedBytes {
		t.Errorf("%d files of %d bytes", count, size)
	}
	if strings.ContainsAny(a.Name, "/\\") {
		t.Errorf("got %+v", a)
	}
}
