package git_test

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

// builder makes a bare repository object by object, so that it can hold what no work tree could.
type builder struct {
	t    *testing.T
	repo *gogit.Repository
	dir  string
}

// build begins the repository root/name.
func build(t *testing.T, root, name string) *builder {
	t.Helper()
	dir := filepath.Join(root, filepath.FromSlash(name))
	repo, err := gogit.PlainInit(dir, true)
	must(t, err)
	return &builder{t, repo, dir}
}

func (b *builder) put(kind plumbing.ObjectType, text string) plumbing.Hash {
	b.t.Helper()
	o := b.repo.Storer.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	must(b.t, err)
	_, err = w.Write([]byte(text))
	must(b.t, err)
	h, err := b.repo.Storer.SetEncodedObject(o)
	must(b.t, err)
	return h
}

type entry struct {
	mode, name string
	id         plumbing.Hash
}

func (b *builder) tree(entries ...entry) plumbing.Hash {
	slices.SortFunc(entries, func(x, y entry) int { return cmp.Compare(x.sortName(), y.sortName()) })
	var text strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&text, "%s %s\x00%s", e.mode, e.name, e.id[:])
	}
	return b.put(plumbing.TreeObject, text.String())
}

func (e entry) sortName() string {
	if e.mode == "40000" {
		return e.name + "/"
	}
	return e.name
}

// files makes a tree of files by their paths.
func (b *builder) files(files map[string]string) plumbing.Hash {
	var entries []entry
	folders := map[string]map[string]string{}
	for name, text := range files {
		if folder, rest, deeper := strings.Cut(name, "/"); deeper {
			if folders[folder] == nil {
				folders[folder] = map[string]string{}
			}
			folders[folder][rest] = text
			continue
		}
		entries = append(entries, entry{"100644", name, b.put(plumbing.BlobObject, text)})
	}
	for folder, below := range folders {
		entries = append(entries, entry{"40000", folder, b.files(below)})
	}
	return b.tree(entries...)
}

func (b *builder) commit(tree plumbing.Hash, parents ...plumbing.Hash) plumbing.Hash {
	var text strings.Builder
	fmt.Fprintf(&text, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&text, "parent %s\n", p)
	}
	text.WriteString("author a <a@example.com> 1 +0000\ncommitter a <a@example.com> 1 +0000\n\none\n")
	return b.put(plumbing.CommitObject, text.String())
}

func (b *builder) tag(name string, target plumbing.Hash, kind string) plumbing.Hash {
	h := b.put(plumbing.TagObject,
		fmt.Sprintf("object %s\ntype %s\ntag %s\ntagger a <a@example.com> 1 +0000\n\none\n", target, kind, name))
	b.ref("refs/tags/"+name, h)
	return h
}

func (b *builder) ref(name string, h plumbing.Hash) {
	b.t.Helper()
	must(b.t, b.repo.Storer.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(name), h)))
}

// small is a repository of two files.
func small(t *testing.T, root, name string) (*builder, plumbing.Hash) {
	t.Helper()
	b := build(t, root, name)
	h := b.commit(b.files(map[string]string{"README.md": "# small\n", "docs/a.md": "a\n"}))
	b.ref("refs/heads/master", h)
	return b, h
}

// backend is what "git http-backend" serves of a folder of repositories.
func backend(t *testing.T, root string) http.Handler {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatalf("these tests need git: %v", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Dir: root,
		Env:    []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root},
		Stderr: io.Discard, Logger: log.New(io.Discard, "", 0), // clients that leave are no news here
	}
}

func secure(t *testing.T, h http.Handler) (*httptest.Server, git.Options) {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, git.Options{Allow: git.Allow{Private: true, Roots: roots}}
}

func plain(t *testing.T, h http.Handler) (*httptest.Server, git.Options) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server, git.Options{Allow: git.Allow{Private: true, HTTP: true}}
}

// patience ends a test that would otherwise hang; nothing waits for it.
func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func get(ctx context.Context, remote git.Remote, o git.Options) (fs.FS, *git.Head, error) {
	head, err := git.Resolve(ctx, remote, o)
	if err != nil {
		return nil, nil, err
	}
	files, err := git.Fetch(ctx, remote, head, o, nil)
	return files, head, err
}

// read gives all files with their texts; links are "-> target".
func read(t *testing.T, files fs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case d.Type() == fs.ModeSymlink:
			target, err := fs.ReadLink(files, name)
			all[name] = "-> " + target
			return err
		}
		text, err := fs.ReadFile(files, name)
		all[name] = string(text)
		if info, _ := d.Info(); info.Size() != int64(len(text)) {
			t.Errorf("%s has %d bytes, says %d", name, len(text), info.Size())
		}
		return err
	})
	must(t, err)
	return all
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("got files %.2000q\nwant %.2000q", got, want)
	}
}

func refused(t *testing.T, err error, cause messages.Code, words ...string) {
	t.Helper()
	if err == nil || messages.CodeOf(err) != cause {
		t.Errorf("got %v (%s), want %s", err, messages.CodeOf(err), cause)
		return
	}
	fatal.IfLacking(t, err.Error(), words...)
}

func retryable(err error) bool {
	e, ok := errors.AsType[*messages.Error](err)
	return ok && e.Retryable
}
