package git_test

import (
	"os"
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

func TestReadOutsideAnyRepository(t *testing.T) {
	expect(t, t.TempDir(), git.Origin{})
}

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
	linked := t.TempDir()
	private := filepath.Join(dir, ".git", "worktrees", "linked")
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
	if _, err := gogit.PlainInit(dir, true); err != nil {
		t.Fatal(err)
	}
	expect(t, dir, git.Origin{})
}

func TestReadTakesTheOnlyRemote(t *testing.T) {
	dir, repo, commit := repository(t, "")
	for _, name := range []string{"upstream", "fork"} {
		remote := &config.RemoteConfig{Name: name, URLs: []string{"https://example.com/" + name}}
		if _, err := repo.CreateRemote(remote); err != nil {
			t.Fatal(err)
		}
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
