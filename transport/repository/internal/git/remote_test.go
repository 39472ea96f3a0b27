package git_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

var smallFiles = map[string]string{"README.md": "# small\n", "docs/a.md": "a\n"}

func TestFetchOverHTTPWhereAllowed(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	server, o := plain(t, backend(t, root))
	files, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git/"}, o)
	must(t, err)
	same(t, read(t, files), smallFiles)
	o.Allow.HTTP = false
	_, err = git.Resolve(patience(t), git.Remote{URL: server.URL + "/r.git"}, o)
	refused(t, err, messages.CauseInvalidInput, "--allow-http")
	_, err = git.Resolve(patience(t), git.Remote{URL: server.URL + "/r.git"}, git.Options{Allow: git.Allow{HTTP: true}})
	refused(t, err, messages.CauseInvalidInput, "--allow-private")
}

// many has branches and tags whose names are each other's beginnings, all at one commit.
func many(t *testing.T) (url string, o git.Options, commits map[string]string) {
	t.Helper()
	root := t.TempDir()
	b := build(t, root, "r.git")
	commits = map[string]string{}
	for _, name := range []string{
		"refs/heads/master", "refs/heads/feature/x", "refs/heads/release/1.0/fix", "refs/heads/both", "refs/heads/a-b",
		"refs/tags/v1.0", "refs/tags/feature/x/docs", "refs/tags/both", "refs/tags/release/1.0", "refs/pull/7/head",
		"refs/heads/--upload-pack=touch", "refs/heads/-x", "refs/heads/日本",
	} {
		h := b.commit(b.files(map[string]string{"name": name, "docs/guide/name": name, "x/y": name}))
		commits[name] = h.String()
		b.ref(name, h)
	}
	target := b.commit(b.files(map[string]string{"name": "annotated"}))
	commits["annotated"] = target.String()
	b.tag("tag-of-tag", b.tag("annotated", target, "commit"), "tag")
	b.tag("of-a-tree", b.files(map[string]string{"name": "tree"}), "tree")
	server, o := secure(t, backend(t, root))
	return server.URL + "/r.git", o, commits
}

func TestResolveTellsRefAndFolderApart(t *testing.T) {
	url, o, commits := many(t)
	table, err := os.ReadFile("testdata/rests.txt") // what follows the URL; the full ref; the ref and the folder
	must(t, err)
	for line := range strings.Lines(strings.Replace(string(table), "THE_COMMIT", commits["refs/heads/-x"], 1)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		head, err := git.Resolve(patience(t), git.Remote{URL: url, Rest: c[0]}, o)
		if err != nil {
			t.Errorf("%q: %v", c[0], err)
			continue
		}
		if want := (git.Head{Commit: commits[c[1]], Ref: c[2], Dir: c[3]}); *head != want {
			t.Errorf("%q: %+v, want %+v", c[0], *head, want)
		}
	}
}

func TestRefsThatAreNotThere(t *testing.T) {
	url, o, _ := many(t)
	for ref, words := range map[string][]string{
		"mastr":                  {`"mastr"`, `"master"`},
		"v1":                     {`"v1.0"`},
		"RELEASE":                {`"release/1.0", "release/1.0/fix"`},
		"nothing-like-it-at-all": {`there is "master"`},
		"..":                     {},
		"../../etc/passwd":       {},
		"-":                      {},
		"--upload-pack=x":        {`"--upload-pack=touch"`},
		"a b\n\x1b[31m":          {`\n\x1b`}, "$(touch x)": {}, "7/head": {}, "pull/7/head": {},
		strings.Repeat("0", 40):       {"40 digits"},
		"deadbeef":                    {"40 digits"},
		strings.Repeat("refs/x/", 99): {},
	} {
		_, err := git.Resolve(patience(t), git.Remote{URL: url, Ref: ref}, o)
		refused(t, err, messages.CauseInvalidInput, words...)
		_, err = git.Resolve(patience(t), git.Remote{URL: url, Rest: ref}, o)
		refused(t, err, messages.CauseInvalidInput, words...)
	}
	_, err := git.Resolve(patience(t), git.Remote{URL: url, Rest: "master/../x"}, o)
	refused(t, err, messages.CauseInvalidInput, "not a folder's path")
}

func TestFetchOfEveryKindOfRef(t *testing.T) {
	url, o, commits := many(t)
	for ref, want := range map[string]string{
		"feature/x": "refs/heads/feature/x", "v1.0": "refs/tags/v1.0", "annotated": "annotated", "tag-of-tag": "annotated",
		commits["refs/pull/7/head"]: "refs/pull/7/head", "refs/tags/both": "refs/tags/both", "-x": "refs/heads/-x",
	} {
		files, head, err := get(patience(t), git.Remote{URL: url, Ref: ref}, o)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if got := read(t, files)["name"]; got != want || head.Commit != commits[want] {
			t.Errorf("%s: read %q at %s, want %q", ref, got, head.Commit, want)
		}
	}
	_, _, err := get(patience(t), git.Remote{URL: url, Ref: "of-a-tree"}, o)
	refused(t, err, messages.CauseInvalidInput, "not a commit")
}

func TestFetchOfAFolder(t *testing.T) {
	url, o, _ := many(t)
	files, _, err := get(patience(t), git.Remote{URL: url, Rest: "feature/x/x"}, o)
	must(t, err)
	same(t, read(t, files), map[string]string{"y": "refs/heads/feature/x"})
}

func TestFoldersThatAreNotThere(t *testing.T) {
	url, o, commits := many(t)
	for _, dir := range []string{"nowhere", "docs/nowhere", "name", "name/x", "../x", "docs/./guide"} {
		head := &git.Head{Commit: commits["refs/heads/master"], Dir: dir}
		_, err := git.Fetch(patience(t), git.Remote{URL: url}, head, o, nil)
		refused(t, err, messages.CauseInvalidInput, "folder")
	}
	_, err := git.Fetch(patience(t), git.Remote{URL: url}, &git.Head{Commit: "master"}, o, nil)
	refused(t, err, messages.CauseInvalidInput, "40")
}

// git gives out over http what its refs lead to, and nothing else.
func TestFetchOfACommitBehindNoRef(t *testing.T) {
	root := t.TempDir()
	b, lost := small(t, root, "r.git")
	first := b.commit(b.files(map[string]string{"first": "1"}))
	b.ref("refs/heads/master", b.commit(b.files(map[string]string{"second": "2"}), first))
	server, o := secure(t, backend(t, root))
	files, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git", Ref: first.String()}, o)
	must(t, err)
	same(t, read(t, files), map[string]string{"first": "1"})
	for _, id := range []string{lost.String(), strings.Repeat("12", 20)} {
		_, _, err = get(patience(t), git.Remote{URL: server.URL + "/r.git", Rest: id + "/docs"}, o)
		refused(t, err, messages.CauseInvalidInput, "does not give out", id)
	}
}

// History stays where it is.
func TestFetchIsShallow(t *testing.T) {
	root := t.TempDir()
	b := build(t, root, "r.git")
	old := b.commit(b.files(map[string]string{"big": noise(1 << 20)}))
	b.ref("refs/heads/master", b.commit(b.files(map[string]string{"small": "s"}), old))
	server, o := secure(t, backend(t, root))
	remote := git.Remote{URL: server.URL + "/r.git"}
	head, err := git.Resolve(patience(t), remote, o)
	must(t, err)
	var received int64
	files, err := git.Fetch(patience(t), remote, head, o, func(done, total int64) { received = max(received, done) })
	must(t, err)
	same(t, read(t, files), map[string]string{"small": "s"})
	if received == 0 || received > 100<<10 {
		t.Errorf("%d bytes came for one small file", received)
	}
}

func TestProgressGrows(t *testing.T) {
	root := t.TempDir()
	b := build(t, root, "r.git")
	b.ref("refs/heads/master", b.commit(b.files(map[string]string{"big": noise(1 << 20)})))
	server, o := secure(t, backend(t, root))
	remote := git.Remote{URL: server.URL + "/r.git"}
	head, err := git.Resolve(patience(t), remote, o)
	must(t, err)
	var reports []int64
	_, err = git.Fetch(patience(t), remote, head, o, func(done, total int64) {
		if total != 0 || len(reports) > 0 && done < reports[len(reports)-1] {
			t.Errorf("progress %d of %d after %v", done, total, reports)
		}
		reports = append(reports, done)
	})
	if err != nil || len(reports) < 5 || reports[len(reports)-1] < 1<<20 {
		t.Errorf("reports %v, %v", reports, err)
	}
}

func TestWhatACommitMayHold(t *testing.T) {
	root := t.TempDir()
	b := build(t, root, "r.git")
	blob := func(text string) plumbing.Hash { return b.put(plumbing.BlobObject, text) }
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
	inner := b.tree(entry{"100644", "f", blob("f")})
	top := b.tree(
		entry{"100644", "README.md", blob("upper")}, entry{"100644", "readme.md", blob("lower")},
		entry{"100755", "run", blob("#!/bin/sh\n")}, entry{"100664", "old", blob("old")},
		entry{"120000", "up", blob("../../etc/passwd")}, entry{"120000", "to-dir", blob("dir")},
		entry{"120000", "long", blob(strings.Repeat("x", 5000))},
		entry{"160000", "submodule", plumbing.NewHash(strings.Repeat("1", 40))},
		entry{"100644", ".gitmodules", blob("[submodule]")}, entry{"100644", "lfs.bin", blob(pointer)},
		entry{"100644", "\xff\xfe", blob("latin")}, entry{"40000", "\xff", inner},
		entry{"40000", "..", inner}, entry{"40000", ".", inner}, entry{"40000", ".git", inner}, entry{"40000", "dir", inner},
		entry{"100644", "a/b", blob("slash")}, entry{"100644", "dir", blob("twice")},
		entry{"100644", "sp ace [x] (y)\n\x1b[31m", blob("odd")}, entry{"100644", "empty", blob("")},
		entry{"100644", "back\\slash", blob("b")}, entry{"100644", "-rf", blob("d")},
	)
	b.ref("refs/heads/master", b.commit(top))
	server, o := secure(t, backend(t, root))
	files, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git"}, o)
	must(t, err)
	got := read(t, files)
	if got["dir"] != "twice" && got["dir/f"] != "f" {
		t.Errorf("neither of two entries of one name is there")
	}
	delete(got, "dir")
	delete(got, "dir/f")
	same(t, got, map[string]string{
		"README.md": "upper", "readme.md": "lower", "run": "#!/bin/sh\n", "old": "old", "up": "-> ../../etc/passwd",
		"to-dir": "-> dir", ".gitmodules": "[submodule]", "lfs.bin": pointer, ".git/f": "f",
		"sp ace [x] (y)\n\x1b[31m": "odd", "empty": "", "back\\slash": "b", "-rf": "d",
	})
	if _, err := fs.ReadFile(files, "to-dir/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read through a link: %v", err)
	}
}

func TestRepositoriesWithoutCommits(t *testing.T) {
	root := t.TempDir()
	build(t, root, "empty.git")
	b := build(t, root, "unborn.git")
	b.ref("refs/heads/other", b.commit(b.files(map[string]string{"a": "a"})))
	server, o := secure(t, backend(t, root))
	_, err := git.Resolve(patience(t), git.Remote{URL: server.URL + "/empty.git"}, o)
	refused(t, err, messages.CauseInvalidInput, "empty")
	_, err = git.Resolve(patience(t), git.Remote{URL: server.URL + "/unborn.git"}, o)
	refused(t, err, messages.CauseInvalidInput, "no default branch", `"other"`)
	files, _, err := get(patience(t), git.Remote{URL: server.URL + "/unborn.git", Ref: "other"}, o)
	must(t, err)
	same(t, read(t, files), map[string]string{"a": "a"})
}

func TestRepositoriesOfAnotherHash(t *testing.T) {
	root := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "--object-format=sha256", "r"}, {"-C", "r", "-c", "user.name=a", "-c", "user.email=a@example.com",
			"commit", "-q", "--allow-empty", "-m", "one"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("this git knows no SHA-256: %s", out)
		}
	}
	server, o := secure(t, backend(t, root))
	_, err := git.Resolve(patience(t), git.Remote{URL: server.URL + "/r/.git"}, o)
	refused(t, err, messages.CauseInvalidInput, "SHA-256")
}

func TestPlacesThatAreNoRepositories(t *testing.T) {
	server, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
		fmt.Fprint(w, "<!doctype html><title>not git</title>")
	}))
	for path, words := range map[string]string{
		"/page": "does not answer as a git repository", "/404": "does not exist", "/410": "410", "/401": "private", "/403": "private",
	} {
		_, err := git.Resolve(patience(t), git.Remote{URL: server.URL + path}, o)
		refused(t, err, messages.CauseInvalidInput, words)
		if path != "/page" && path != "/410" {
			refused(t, err, messages.CauseInvalidInput, "private", "LASTWORD_GIT_TOKEN", "GH_TOKEN", "GITHUB_ACCESS_TOKEN")
		}
	}
	for _, path := range []string{"/500", "/503", "/429"} {
		_, err := git.Resolve(patience(t), git.Remote{URL: server.URL + path}, o)
		refused(t, err, messages.CauseTransportClosed, path[1:])
		if !retryable(err) {
			t.Errorf("%s: %v is not retryable", path, err)
		}
	}
	url := server.URL
	server.Close()
	_, err := git.Resolve(patience(t), git.Remote{URL: url + "/r.git"}, o)
	refused(t, err, messages.CauseTransportClosed)
	if !retryable(err) {
		t.Errorf("%v is not retryable", err)
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	for url, words := range map[string]string{
		"ssh://git@example.com/o/r": "--allow-ssh", "git@example.com:o/r.git": "--allow-ssh",
		"file:///srv/git": "file URLs", "git://example.com/o/r": "not supported", "ext::sh -c touch% x": "",
		"https://u:secret@example.com/r": "credentials", "https://169.254.169.254/r": "metadata", "/srv/git": "",
		"": "", "--upload-pack=touch": "",
	} {
		_, err := git.Resolve(patience(t), git.Remote{URL: url}, git.Options{})
		refused(t, err, messages.CauseInvalidInput, words)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q repeats the password", err)
		}
	}
}

func TestManyFetchAtOnce(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	server, o := secure(t, backend(t, root))
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			files, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git"}, o)
			if err != nil {
				t.Error(err)
				return
			}
			for range 4 {
				all.Go(func() { same(t, read(t, files), smallFiles) })
			}
		})
	}
	all.Wait()
}

// noise does not get smaller by packing.
func noise(size int) string {
	source, text := rand.New(rand.NewPCG(1, 2)), make([]byte, size)
	for i := range text {
		text[i] = byte(source.Uint32())
	}
	return string(text)
}
