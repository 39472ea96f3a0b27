package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/archive"
)

// entry is what the tests pack: a file, a link where target is set, or what kind says.
type entry struct {
	name, text, target string
	kind               byte // of tar; 0 for a file
}

func files(names ...string) []entry {
	var out []entry
	for _, name := range names {
		out = append(out, entry{name: name, text: "text of " + name})
	}
	return out
}

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		if strings.HasSuffix(e.name, "/") {
			e.text = ""
		}
		h := &tar.Header{Name: e.name, Size: int64(len(e.text)), Mode: 0o644, Typeflag: e.kind, Linkname: e.target}
		if e.target != "" && e.kind == 0 {
			h.Typeflag = tar.TypeSymlink
		}
		must(t, w.WriteHeader(h))
		_, err := io.WriteString(w, e.text)
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// tarFrom is a git archive of a commit.
func tarFrom(t testing.TB, comment string, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
		PAXRecords: map[string]string{"comment": comment}}))
	must(t, w.Flush())
	return append(out.Bytes(), tarOf(t, entries...)...)
}

func gz(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

func zipOf(t testing.TB, comment string, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	must(t, w.SetComment(comment))
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		switch {
		case e.target != "":
			h.SetMode(fs.ModeSymlink | 0o777)
			e.text = e.target
		case e.kind == tar.TypeFifo:
			h.SetMode(fs.ModeNamedPipe | 0o644)
		}
		f, err := w.CreateHeader(h)
		must(t, err)
		if !strings.HasSuffix(e.name, "/") {
			_, err = io.WriteString(f, e.text)
			must(t, err)
		}
	}
	must(t, w.Close())
	return out.Bytes()
}

var must = fatal.IfError

// save writes an archive into a file with the name.
func save(t testing.TB, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(file, data, 0o600))
	return file
}

// read reads an archive from a file that has no telling name.
func read(t testing.TB, data []byte, limits archive.Limits) (*archive.Archive, error) {
	t.Helper()
	return archive.Read(t.Context(), save(t, "archive", data), archive.Options{Limits: limits}, nil)
}

// web serves over TLS, with the Options that reach it.
func web(t testing.TB, handler http.HandlerFunc) (url string, o archive.Options) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.URL, archive.Options{Allow: archive.Allow{Private: true, Roots: roots}}
}

func send(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }
}

// list shows every file as "name: text", and links as "name -> target".
func list(t testing.TB, files fs.FS) string {
	t.Helper()
	var lines []string
	must(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := fs.ReadLink(files, name)
			lines = append(lines, name+" -> "+target)
			return err
		}
		data, err := fs.ReadFile(files, name)
		lines = append(lines, fmt.Sprintf("%s: %.40s", name, data))
		return err
	}))
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// expect compares what list shows.
func expect(t testing.TB, a *archive.Archive, err error, lines ...string) {
	t.Helper()
	if err != nil {
		t.Errorf("got %v", err)
		return
	}
	if got, want := list(t, a.Files), strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func expectError(t testing.TB, err error, code messages.Code, parts ...string) {
	t.Helper()
	e, ok := errors.AsType[*messages.Error](err)
	if !ok || e.Code != code || e.Retryable != (code == "transport_closed") {
		t.Errorf("got %#v, want the code %s", err, code)
		return
	}
	fatal.IfLacking(t, e.Message, parts...)
}
