package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/archive"
)

func TestReadRefusesWhatTheRulesRefuse(t *testing.T) {
	url, o := web(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	host := strings.TrimPrefix(url, "https://")
	for source, part := range map[string]string{
		url:                              "--allow-private",
		"http://" + host:                 "--allow-http",
		"https://hunter2@" + host:        "LASTWORD_GIT_TOKEN",
		"ssh://git@" + host:              "--allow-ssh",
		"ftp://" + host:                  "not supported",
		"https://hunter2@exa mple/a.zip": "not a URL",
	} {
		strict := o
		strict.Allow.Private = false
		_, err := archive.Read(t.Context(), source, strict, nil)
		expectError(t, err, "invalid_input", part)
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats a credential: %v", err)
		}
	}
	o.Allow.SSH = true
	_, err := archive.Read(t.Context(), "ssh://git@"+host, o, nil)
	expectError(t, err, "invalid_input", "not read over ssh")
}

func TestReadOfAnswersThatAreNoArchive(t *testing.T) {
	for status, want := range map[int]struct {
		code messages.Code
		part string
	}{
		401: {"invalid_input", "LASTWORD_GIT_TOKEN"}, 403: {"invalid_input", "token"},
		404: {"invalid_input", "no such archive"},
		204: {"invalid_input", "answers 204"}, 206: {"invalid_input", "answers 206"}, 410: {"invalid_input", "answers 410"},
		429: {"transport_closed", "try again"}, 500: {"transport_closed", "try again"}, 503: {"transport_closed", "503"},
	} {
		url, o := web(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, err := archive.Read(t.Context(), url+"/a.zip?sig=hunter2", o, nil)
		expectError(t, err, want.code, want.part, "/a.zip")
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats the query: %v", err)
		}
	}
}

// A token goes to the host that was asked for it, and to none that this one names.
func TestReadSendsTokensToTheFirstHostAlone(t *testing.T) {
	data, seen := gz(t, tarOf(t, files("a")...)), map[string]string{}
	second, _ := web(t, func(w http.ResponseWriter, r *http.Request) {
		seen["second"] = r.Header.Get("Authorization")
		send(data)(w, r)
	})
	first, o := web(t, func(w http.ResponseWriter, r *http.Request) {
		seen["first"] = r.Header.Get("Authorization")
		http.Redirect(w, r, second+"/x", http.StatusFound)
	})
	var asked []string
	o.Token = func(host string) string { asked = append(asked, host); return "hunter2" }
	a, err := archive.Read(t.Context(), first, o, nil)
	expect(t, a, err, "a: text of a")
	if seen["first"] != "Bearer hunter2" || seen["second"] != "" || fmt.Sprint(asked) != "[127.0.0.1]" {
		t.Errorf("the servers saw %q, Token was asked for %q", seen, asked)
	}
}

// A token never goes over http.
func TestReadSendsNoTokenInTheClear(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := r.Header.Get("Authorization"); h != "" {
			t.Errorf("the server saw %q", h)
		}
		send(tarOf(t, files("a")...))(w, r)
	}))
	t.Cleanup(s.Close)
	o := archive.Options{Allow: archive.Allow{HTTP: true, Private: true}, Token: func(string) string { return "hunter2" }}
	a, err := archive.Read(t.Context(), s.URL, o, nil)
	expect(t, a, err, "a: text of a")
}

// Servers lie about the length; the connection breaks, or the archive is cut.
func TestReadOfLyingContentLengths(t *testing.T) {
	data := gz(t, tarOf(t, files("a", "b", "c")...))
	for _, lie := range []int{len(data) + 100, len(data) - 20, 1 << 40} {
		url, o := web(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", lie)
			_, _ = buf.Write(data)
			_ = buf.Flush()
			_ = conn.Close()
		})
		o.Limits.WireBytes = 1 << 41
		_, err := archive.Read(t.Context(), url+"/a.tar.gz", o, nil)
		expectError(t, err, "transport_closed")
	}
}

// Anyone who cancels is answered at once, however slowly the server sends.
func TestReadEndsWithItsContext(t *testing.T) {
	gone, noise := errors.New("gone"), make([]byte, 300<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	entries := []entry{{name: "noise", text: string(noise)}, {name: "more", text: string(noise)}}
	for _, data := range [][]byte{gz(t, tarOf(t, entries...)), zipOf(t, "", entries...)} {
		url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(data[:len(data)-100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := archive.Read(ctx, url, o, func(int64, int64) { cancel(gone) })
		if !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	file := save(t, "a.tar", tarOf(t, files("a")...))
	if _, err := archive.Read(ctx, file, archive.Options{}, nil); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

func TestReadTellsItsProgress(t *testing.T) {
	noise := make([]byte, 1<<20-1)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	data := tarOf(t, entry{name: "a", text: string(noise)}, entry{name: "b", text: string(noise)})
	for _, known := range []bool{true, false} {
		url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
			if known {
				w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			}
			send(data)(w, r)
		})
		var steps []int64
		_, err := archive.Read(t.Context(), url, o, func(done, total int64) {
			steps = append(steps, done)
			if want := map[bool]int64{true: int64(len(data)), false: 0}[known]; total != want {
				t.Errorf("the total is %d, want %d", total, want)
			}
		})
		must(t, err)
		for i := 1; i < len(steps)-1; i++ {
			if steps[i]-steps[i-1] < 256<<10 {
				t.Errorf("progress came after %d bytes", steps[i]-steps[i-1])
			}
		}
		if len(steps) < 3 || steps[len(steps)-1] != int64(len(data)) {
			t.Errorf("progress was %d", steps)
		}
	}
}

// A large zip needs random access, and leaves nothing behind.
func TestReadSpoolsLargeZips(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range []entry{{name: "large", text: strings.Repeat("x", 17<<20)}, {name: "small", text: "y"}} {
		f, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Store})
		must(t, err)
		_, err = io.WriteString(f, e.text)
		must(t, err)
	}
	must(t, z.Close())
	data := out.Bytes()
	for _, limit := range []int64{0, int64(len(data)) - 1} {
		url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush() // no Content-Length
			send(data)(w, r)
		})
		o.Limits.WireBytes = limit
		a, err := archive.Read(t.Context(), url, o, nil)
		if limit > 0 {
			expectError(t, err, "limit_exceeded", "--max-download")
		} else if err != nil {
			t.Errorf("got %v", err)
		} else if names, err := fs.Glob(a.Files, "*"); err != nil || len(names) != 2 {
			t.Errorf("got %q, %v", names, err)
		}
		if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestNames(t *testing.T) {
	archives := map[string][]byte{"top": tarOf(t, files("top-1.0/a")...), "flat": tarOf(t, files("a", "b")...)}
	table, err := os.ReadFile("testdata/names.txt") // path, Content-Disposition, archive; its name
	must(t, err)
	for line := range strings.Lines(strings.Replace(string(table), "LONG", strings.Repeat("x", 300), 1)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
			if to := r.URL.Query().Get("to"); to != "" {
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
			if c[1] != "" {
				w.Header().Set("Content-Disposition", c[1])
			}
			send(archives[c[2]])(w, r)
		})
		a, err := archive.Read(t.Context(), url+c[0], o, nil)
		must(t, err)
		if a.Name != c[3] {
			t.Errorf("%s, %q: %q, want %q", c[0], c[1], a.Name, c[3])
		}
	}
}

// Servers that pack a tar for the transport, unasked, are understood by the bytes.
func TestReadIgnoresContentEncoding(t *testing.T) {
	plain := tarOf(t, files("a")...)
	for _, data := range [][]byte{plain, gz(t, plain)} {
		url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("the request accepts %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			send(data)(w, r)
		})
		a, err := archive.Read(t.Context(), url, o, nil)
		expect(t, a, err, "a: text of a")
	}
}

// A server that repeats the token brings it neither into an error nor into the archive's name.
func TestReadDoesNotRepeatTheToken(t *testing.T) {
	const token = "t0ken-of-the-gardener"
	data := gz(t, tarOf(t, files("a")...))
	url, o := web(t, func(w http.ResponseWriter, r *http.Request) {
		said := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch r.URL.Path {
		case "/named":
			w.Header().Set("Content-Disposition", "attachment; filename="+said+".tar.gz")
			send(data)(w, r)
		case "/moved":
			http.Redirect(w, r, "https://"+said+".invalid/", http.StatusFound)
		default:
			fmt.Fprint(w, said)
		}
	})
	o.Token = func(string) string { return token }
	if a, err := archive.Read(t.Context(), url+"/named", o, nil); err != nil || a.Name != "[token]" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, path := range []string{"/moved", "/text"} {
		if _, err := archive.Read(t.Context(), url+path, o, nil); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
