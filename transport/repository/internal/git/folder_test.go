package git_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

func local(path string) (git.Remote, git.Options) {
	return git.Remote{URL: "file://" + filepath.ToSlash(path)}, git.Options{Allow: git.Allow{File: true}}
}

func TestFetchOfABareRepositoryHere(t *testing.T) {
	b, commit := small(t, t.TempDir(), "r.git")
	b.tag("v1", commit, "commit")
	b.ref("refs/heads/feature/x", b.commit(b.files(map[string]string{"docs/x": "x"})))
	remote, o := local(b.dir)
	files, head, err := get(patience(t), remote, o)
	must(t, err)
	same(t, read(t, files), smallFiles)
	if want := (git.Head{Commit: commit.String(), Ref: "master"}); *head != want {
		t.Errorf("head %+v, want %+v", *head, want)
	}
	remote.Ref = "v1"
	if head, err := git.Resolve(patience(t), remote, o); err != nil || head.Commit != commit.String() {
		t.Errorf("the tag: %+v, %v", head, err)
	}
	files, _, err = get(patience(t), git.Remote{URL: remote.URL, Rest: "feature/x/docs"}, o)
	must(t, err)
	same(t, read(t, files), map[string]string{"x": "x"})
	_, _, err = get(patience(t), git.Remote{URL: remote.URL, Ref: "mastr"}, o)
	refused(t, err, messages.CauseInvalidInput, `"master"`)
}

// Packed and loose, with and without a work tree, give the same.
func TestFetchOfAWorkTreeHere(t *testing.T) {
	dir, _, commit := repository(t, "")
	remote, o := local(dir)
	for _, pack := range []bool{false, true} {
		if pack {
			if out, err := exec.Command("git", "-C", dir, "repack", "-adq").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		files, head, err := get(patience(t), remote, o)
		if err != nil || head.Commit != commit {
			t.Fatalf("packed %v: %+v, %v", pack, head, err)
		}
		same(t, read(t, files), map[string]string{"sub/a.txt": "a"})
	}
}

// Reading changes nothing, and nothing that the repository is set up to run runs.
func TestFetchHereOnlyReads(t *testing.T) {
	b, _ := small(t, t.TempDir(), "r.git")
	mark := filepath.Join(t.TempDir(), "mark")
	write(t, filepath.Join(b.dir, "hooks", "post-checkout"), "#!/bin/sh\ntouch "+mark+"\n")
	write(t, filepath.Join(b.dir, "config"), "[core]\n\tbare = true\n\tfsmonitor = touch "+mark+"\n\tpager = touch "+mark+
		"\n[uploadpack]\n\tpackObjectsHook = touch "+mark+"\n[filter \"x\"]\n\tsmudge = touch "+mark+"\n")
	before := listing(t, b.dir)
	remote, o := local(b.dir)
	if _, _, err := get(patience(t), remote, o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the repository had something run")
	}
	same(t, listing(t, b.dir), before)
}

func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			info, _ := d.Info()
			all[name] = info.ModTime().String()
		}
		return err
	})
	must(t, err)
	return all
}

func TestFoldersHereThatAreNoRepositories(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "file"), "text")
	write(t, filepath.Join(root, "linked", ".git"), "gitdir: "+root+"\n")
	must(t, os.Mkdir(filepath.Join(root, "plain"), 0o755))
	if _, err := gogit.PlainInit(filepath.Join(root, "empty"), true); err != nil {
		t.Fatal(err)
	}
	for name, word := range map[string]string{
		"nowhere": "opened", "file": "opened", "plain": "not a git repository", "linked": "elsewhere", "empty": "empty",
	} {
		remote, o := local(filepath.Join(root, name))
		_, err := git.Resolve(patience(t), remote, o)
		refused(t, err, messages.CauseInvalidInput, word)
	}
}

// A repository cannot reach out of its folder: neither by links nor by borrowing.
func TestFetchHereStaysInTheFolder(t *testing.T) {
	root := t.TempDir()
	outside, commit := small(t, root, "outside.git")
	b := build(t, root, "r.git")
	b.ref("refs/heads/master", commit)
	remote, o := local(b.dir)
	write(t, filepath.Join(b.dir, "objects", "info", "alternates"), filepath.Join(outside.dir, "objects")+"\n")
	_, _, err := get(patience(t), remote, o)
	refused(t, err, messages.CauseInvalidInput)
	must(t, os.RemoveAll(filepath.Join(b.dir, "objects")))
	must(t, os.Symlink(filepath.Join(outside.dir, "objects"), filepath.Join(b.dir, "objects")))
	_, _, err = get(patience(t), remote, o)
	refused(t, err, messages.CauseInvalidInput)
}

func TestLimitsHere(t *testing.T) {
	b := build(t, t.TempDir(), "r.git")
	b.ref("refs/heads/master", b.commit(b.files(map[string]string{"a": noise(300 << 10), "b/c": "c", "b/d": "d"})))
	remote, o := local(b.dir)
	o.Limits = git.Limits{Files: 3}
	_, _, err := get(patience(t), remote, o)
	refused(t, err, messages.CauseLimitExceeded, "--max-files")
	o.Limits = git.Limits{UnpackedBytes: 200 << 10}
	_, _, err = get(patience(t), remote, o)
	refused(t, err, messages.CauseLimitExceeded, "--max-bytes")
	o.Limits = git.Limits{Files: 4, ObjectBytes: 100 << 10}
	files, _, err := get(patience(t), remote, o)
	must(t, err)
	_, err = fs.ReadFile(files, "a")
	refused(t, err, messages.CauseLimitExceeded, "--max-bytes")
}

func TestADamagedRepositoryHere(t *testing.T) {
	b := build(t, t.TempDir(), "r.git")
	b.ref("refs/heads/master", b.commit(plumbing.NewHash("12")))
	remote, o := local(b.dir)
	_, _, err := get(patience(t), remote, o)
	refused(t, err, messages.CauseInvalidInput, "damaged")
}
