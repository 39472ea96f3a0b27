package repository

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// What is said to raise a limit raises it.
func TestLimitsOfArchives(t *testing.T) {
	var packed bytes.Buffer
	w, deep := tar.NewWriter(&packed), strings.Repeat("d/", 150)+"a.md"
	must(t, w.WriteHeader(&tar.Header{Name: deep, Mode: 0o644, Format: tar.FormatPAX}))
	must(t, w.WriteHeader(&tar.Header{Name: "b.md", Typeflag: tar.TypeFifo}))
	must(t, w.Close())
	path := filepath.Join(t.TempDir(), "deep.tar")
	must(t, os.WriteFile(path, packed.Bytes(), 0o644))
	for depth, code := range map[int]messages.Code{0: messages.CauseLimitExceeded, 200: ""} {
		s := Options{Limits: Limits{Depth: depth}}
		m, err := s.Open(t.Context(), source.Address{Kind: source.Archive, Path: path})
		must(t, err)
		_, err = m.Read(t.Context(), nil)
		if err != nil && messages.CodeOf(err) != code || err == nil && code != "" {
			t.Errorf("--max-depth %d: %v", depth, err)
		}
		if err == nil && m.Warning != "left out of the archive: 1 that are devices, pipes or hard links" {
			t.Errorf("warned %q", m.Warning)
		}
	}
	for files, want := range map[int]int{0: 200_000, 1000: 200_000, 50_000: 500_000} {
		s := Options{Limits: Limits{Files: files}}
		if got := s.entries(200_000); got != want {
			t.Errorf("--max-files %d lets %d be listed, want %d", files, got, want)
		}
	}
}

// Which files belong to a repository, git's index tells; a sparse checkout is read from its commit.
func TestTrackedFiles(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) { runGit(t, root, args...) }
	git("init", "-q", "beds")
	for name, text := range map[string]string{".gitignore": "*.log\n", "kept.log": "k", "other.log": "o", "a/one.md": "1", "b/two.md": "2", "new.md": "n"} {
		name = filepath.Join(root, "beds", name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(text), 0o644))
	}
	git("-C", "beds", "add", "-f", ".gitignore", "kept.log", "a", "b")
	git("-C", "beds", "commit", "-qm", "one")
	git("clone", "-q", "beds", "sparse")
	git("-C", "sparse", "sparse-checkout", "set", "--no-cone", "/a/")
	git("-C", "sparse", "worktree", "add", "-q", "../linked")
	for dir, want := range map[string]struct{ tracked, warning string }{
		"beds":     {".gitignore kept.log a a/one.md b b/two.md", ""},
		"beds/a":   {"one.md", ""},
		"sparse":   {".gitignore kept.log other.log new.md a a/one.md b b/two.md one.md", "sparse and lacks 3 files: the files of the commit are read"},
		"sparse/a": {"one.md", ""},
		"linked":   {"a a/one.md", "sparse and lacks 3 files"},
	} {
		m, err := Open(t.Context(), filepath.Join(root, dir), Options{})
		must(t, err)
		warned := m.Warning
		files, err := m.Read(t.Context(), func(int64, int64) {})
		must(t, err)
		var tracked []string
		for name := range strings.FieldsSeq(".gitignore kept.log other.log new.md a a/one.md b b/two.md one.md") {
			if m.Tracked(name) {
				tracked = append(tracked, name)
			}
		}
		_, err = fs.Stat(files, "b/two.md")
		if got := strings.Join(tracked, " "); got != want.tracked || !strings.Contains(warned, want.warning) || want.warning == "" && warned != "" || dir == "sparse" && err != nil {
			t.Errorf("%s tracks %s, warns %q (%v)", dir, got, warned, err)
		}
	}
}

// runGit runs git in a folder.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// A repository without a work tree is read from its objects, whatever git made it by.
func TestReposWithoutAWorkTree(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) { runGit(t, root, args...) }
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(root, "orchard", name), []byte(text), 0o644))
	}
	git("init", "-q", "orchard")
	write("README.md", "# Orchard\n")
	write("apples.csv", strings.Repeat("an apple\n", 1000))
	git("-C", "orchard", "add", ".")
	git("-C", "orchard", "commit", "-qm", "one")
	git("-C", "orchard", "config", "uploadpack.allowFilter", "true")
	from := "file://" + filepath.ToSlash(root) + "/orchard"
	git("clone", "-q", "--bare", from, "bare %23.git")
	git("clone", "-q", "--no-checkout", from, "unchecked")
	git("clone", "-q", "--bare", "--filter=blob:limit=1k", from, "small.git")
	git("clone", "-q", "--no-checkout", "--filter=blob:none", from, "nothing")

	const lacks = "files that the partial clone has not fetched are left out: 1"
	for name, want := range map[string]struct {
		files   []string
		warning string
	}{
		"bare %23.git": {files: []string{"README.md", "apples.csv"}},
		"unchecked":    {files: []string{"README.md", "apples.csv"}},
		"small.git":    {files: []string{"README.md"}, warning: lacks},
		"nothing":      {},
	} {
		m, err := Options{}.Open(t.Context(), source.Address{Kind: source.Folder, Path: filepath.Join(root, name)})
		must(t, err)
		files, err := m.Read(t.Context(), func(int64, int64) {})
		if want.files == nil {
			if messages.CodeOf(err) != messages.CauseInvalidInput || !strings.Contains(err.Error(), "git checkout") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := fs.Glob(files, "*")
		if err != nil || !slices.Equal(got, want.files) || m.Warning != want.warning {
			t.Errorf("%s: %v, %v, warned %q", name, got, err, m.Warning)
		}
	}
}

var must = fatal.IfError

func TestLogins(t *testing.T) {
	home := testkit.Repository(t, []byte(`-- .git-credentials --
https://mia:st%40re@store.example
https://mia:x@path.example/o/r
nonsense%
https://mia:st0re@store.example:8443
http://mia:plain@plain.example
-- xdg/git/credentials --
https://mia:xdg@xdg.example
https://mia:other@store.example
`))
	o := Options{Credentials: []string{filepath.Join(home, ".git-credentials"), filepath.Join(home, "none"), home,
		filepath.Join(home, "xdg", "git", "credentials")}, Tokens: func() (map[string]string, error) {
		return map[string]string{"both.example": "a-token", "six.example:8443": "port-token", "::1": "v6-token",
			".github.com:443": "hub-token", "api.github.com": "api-token"}, nil
	}}
	for url, want := range map[string]login{
		"https://github.com/o/r": {"", "hub-token"}, "https://GitHub.com/o/r": {"", "hub-token"}, "https://codeload.github.com/x": {"", "hub-token"},
		"https://github.com:8443/o/r": {}, "http://github.com/o/r": {}, "https://github.com.evil.example/o/r": {}, "https://notgithub.com/": {},
		"https://github.com@evil.example/": {}, "https://evil.example/github.com": {}, "https://evil.example/?both.example": {},
		"https://both.example/r": {"", "a-token"}, "https://both.example:444/r": {"", "a-token"}, "https://api.github.com/x": {"", "api-token"},
		"https://sub.both.example/r": {}, "https://both.example.evil.example/": {}, "https://six.example/r": {}, "https://six.example:8443/r": {"", "port-token"},
		"https://[::1]:9/r": {"", "v6-token"}, "https://store.example/r": {"mia", "st@re"}, "https://store.example:443/r": {"mia", "st@re"},
		"https://store.example:8443/r": {"mia", "st0re"}, "https://store.example:1/r": {}, "http://store.example/r": {}, "https://path.example/o/r": {},
		"https://plain.example/r": {}, "https://xdg.example/r": {"mia", "xdg"}, "git@github.com:o/r": {}, "/a/folder": {}, "": {},
	} {
		for _, o.RemoteOnly = range []bool{false, true} {
			if o.RemoteOnly && want.user != "" {
				want = login{} // the store is its user's
			}
			if got, err := o.loginFor(url); err != nil || got != want {
				t.Errorf("%s (remote only: %t): %+v, %v, want %+v", url, o.RemoteOnly, got, err, want)
			}
		}
	}
}

// Anyone who opens an address of this machine where only others may be read is refused, parsed or not.
func TestRemoteOnly(t *testing.T) {
	o := Options{RemoteOnly: true}
	_, err := Open(t.Context(), t.TempDir(), o)
	_, parsed := o.Open(t.Context(), source.Address{Path: t.TempDir()})
	if messages.CodeOf(err) != messages.CauseInvalidInput || messages.CodeOf(parsed) != messages.CauseInvalidInput {
		t.Errorf("%v, %v", err, parsed)
	}
}
