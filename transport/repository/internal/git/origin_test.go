package git_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

// repository makes one commit of sub/a.txt, with a remote if its URL is given.
func repository(t *testing.T, remote string) (dir string, repo *gogit.Repository, commit string) {
	t.Helper()
	dir = t.TempDir()
	repo, err := gogit.PlainInit(dir, false)
	must(t, err)
	if remote != "" {
		_, err = repo.CreateRemote(&config.RemoteConfig{Name: "origin", URLs: []string{remote}})
		must(t, err)
	}
	write(t, filepath.Join(dir, "sub", "a.txt"), "a")
	tree, err := repo.Worktree()
	must(t, err)
	_, err = tree.Add("sub/a.txt")
	must(t, err)
	who := &object.Signature{Name: "a", Email: "a@example.com", When: time.Unix(1, 0)}
	hash, err := tree.Commit("one", &gogit.CommitOptions{Author: who, Committer: who})
	must(t, err)
	return dir, repo, hash.String()
}

func expect(t *testing.T, dir string, want git.Origin) {
	t.Helper()
	got, err := git.Read(dir)
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

const remote = "https://github.com/o/r.git"

func TestReadOfARepository(t *testing.T) {
	dir, _, commit := repository(t, remote)
	expect(t, dir, git.Origin{Remote: remote, Commit: commit, Branch: "master"})
	expect(t, filepath.Join(dir, "sub"), git.Origin{Remote: remote, Commit: commit, Branch: "master", Prefix: "sub"})
}

func TestReadOutsideAnyRepository(t *testing.T) { expect(t, t.TempDir(), git.Origin{}) }

// A module cache or a download below someone's repository is not part of it.
func TestReadOfAFolderThatTheCommitDoesNotKnow(t *testing.T) {
	dir, _, _ := repository(t, remote)
	write(t, filepath.Join(dir, "cache", "b.txt"), "b")
	expect(t, filepath.Join(dir, "cache"), git.Origin{})
}

func TestReadBeforeTheFirstCommit(t *testing.T) {
	dir := t.TempDir()
	repo, err := gogit.PlainInit(dir, false)
	must(t, err)
	_, err = repo.CreateRemote(&config.RemoteConfig{Name: "origin", URLs: []string{remote}})
	must(t, err)
	expect(t, dir, git.Origin{Remote: remote, Branch: "master"})
}

func TestReadOfADetachedHead(t *testing.T) {
	dir, repo, commit := repository(t, "")
	must(t, repo.Storer.SetReference(plumbing.NewHashReference(plumbing.HEAD, plumbing.NewHash(commit))))
	expect(t, dir, git.Origin{Commit: commit})
}

func TestReadOfPackedRefs(t *testing.T) {
	dir, _, commit := repository(t, "")
	must(t, os.RemoveAll(filepath.Join(dir, ".git", "refs", "heads")))
	write(t, filepath.Join(dir, ".git", "packed-refs"),
		"# pack-refs with: peeled fully-peeled sorted\n"+commit+" refs/heads/master\n")
	expect(t, dir, git.Origin{Commit: commit})
}

// git writes these files for "git worktree add".
func TestReadOfALinkedWorktree(t *testing.T) {
	dir, _, commit := repository(t, remote)
	linked, private := t.TempDir(), filepath.Join(dir, ".git", "worktrees", "linked")
	write(t, filepath.Join(linked, ".git"), "gitdir: "+private+"\n")
	write(t, filepath.Join(private, "HEAD"), commit+"\n")
	write(t, filepath.Join(private, "commondir"), "../..\n")
	write(t, filepath.Join(private, "gitdir"), filepath.Join(linked, ".git")+"\n")
	write(t, filepath.Join(linked, "sub", "a.txt"), "a")
	expect(t, linked, git.Origin{Remote: remote, Commit: commit})
	expect(t, filepath.Join(linked, "sub"), git.Origin{Remote: remote, Commit: commit, Prefix: "sub"})
}

func TestReadOfABareRepository(t *testing.T) {
	dir := t.TempDir()
	_, err := gogit.PlainInit(dir, true)
	must(t, err)
	expect(t, dir, git.Origin{})
}

func TestReadTakesTheOnlyRemote(t *testing.T) {
	dir, repo, commit := repository(t, "")
	for _, name := range []string{"upstream", "fork"} {
		remote := &config.RemoteConfig{Name: name, URLs: []string{"https://example.com/" + name}}
		_, err := repo.CreateRemote(remote)
		must(t, err)
	}
	expect(t, dir, git.Origin{Commit: commit})
	must(t, repo.DeleteRemote("fork"))
	expect(t, dir, git.Origin{Commit: commit, Branch: "master", Remote: "https://example.com/upstream"})
}

func TestReadDropsCredentials(t *testing.T) {
	for spelled, want := range map[string]string{
		"https://user:secret@github.com/o/r.git":       "https://github.com/o/r.git",
		"https://secret@github.com/o/r?token=secret#x": "https://github.com/o/r",
		"ssh://git@github.com/o/r.git":                 "ssh://github.com/o/r.git",
		"git@github.com:o/r.git":                       "git@github.com:o/r.git",
		"secret@host:o/r":                              "host:o/r",
		"user:secret@host:o/r":                         "host:o/r",
		"/srv/git/r.git":                               "/srv/git/r.git",
	} {
		dir, _, commit := repository(t, spelled)
		expect(t, dir, git.Origin{Remote: want, Commit: commit, Branch: "master"})
	}
}

func TestReadOfABrokenRepository(t *testing.T) {
	dir, _, _ := repository(t, remote)
	write(t, filepath.Join(dir, ".git", "config"), "[remote \"origin\n")
	if o, err := git.Read(dir); err == nil {
		t.Errorf("got %+v without an error", o)
	}
}

// What may be missing from a clone, or is set per work tree, keeps nobody from reading it.
func TestReadOfARepositoryWithExtensions(t *testing.T) {
	dir, _, commit := repository(t, "")
	config := filepath.Join(dir, ".git", "config")
	extended := "[core]\n\trepositoryformatversion = 1\n[extensions]\n\t"
	write(t, config, extended+"partialClone = origin\n\tworktreeConfig = true\n")
	expect(t, dir, git.Origin{Commit: commit})
	for _, extension := range []string{"objectFormat = sha256", "refStorage = reftable"} {
		write(t, config, extended+extension+"\n")
		_, err := git.Read(dir)
		refused(t, err, messages.CauseInvalidInput, "not supported")
	}
}

func TestReadOfAPointerThatLeadsNowhere(t *testing.T) {
	for text, words := range map[string]string{
		"gitdir: nowhere\n": "not there", "elsewhere\n": "does not say", "": "does not say",
		"gitdir: " + noise(16<<10): "does not say",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".git"), text)
		_, err := git.Read(dir)
		refused(t, err, messages.CauseInvalidInput, words)
	}
}

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
	_, _, err := get(patience(t), remote, o)
	must(t, err)
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
	_, err := gogit.PlainInit(filepath.Join(root, "empty"), true)
	must(t, err)
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
