package git_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

// worktree begins a repository with a work tree, which is empty.
func worktree(t *testing.T) (*builder, string) {
	t.Helper()
	dir := t.TempDir()
	return build(t, dir, ".git"), dir
}

// at checks out a tree, as far as the repository knows.
func (b *builder) at(tree plumbing.Hash) plumbing.Hash {
	h := b.commit(tree)
	b.ref("refs/heads/master", h)
	return h
}

func checkout(t *testing.T, dir string) *git.Checkout {
	t.Helper()
	c, err := git.OpenCheckout(dir)
	if err != nil || c == nil {
		t.Fatalf("%s is no checkout: %v", dir, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func since(t *testing.T, dir string, from plumbing.Hash) *git.Changes {
	t.Helper()
	changes, err := checkout(t, dir).Since(patience(t), from.String())
	must(t, err)
	return changes
}

func TestSinceNamesFilesThatCameWentOrChanged(t *testing.T) {
	b, dir := worktree(t)
	file := func(text string) plumbing.Hash { return b.put(plumbing.BlobObject, text) }
	was := b.commit(b.tree(
		entry{"100644", "edited", file("1")}, entry{"100644", "same", file("1")}, entry{"100644", "gone", file("1")},
		entry{"100644", "run", file("1")}, entry{"100644", "link", file("same")}, entry{"100644", "to-folder", file("1")},
		entry{"40000", "to-file", b.files(map[string]string{"a": "1", "b/c": "1"})},
		entry{"40000", "kept", b.files(map[string]string{"a": "1", "b/c": "1"})},
		entry{"160000", "module", was1}))
	b.at(b.tree(
		entry{"100644", "edited", file("2")}, entry{"100644", "same", file("1")}, entry{"100644", "came", file("1")},
		entry{"100755", "run", file("1")}, entry{"120000", "link", file("same")}, entry{"100644", "to-file", file("1")},
		entry{"40000", "to-folder", b.files(map[string]string{"x/y": "1"})},
		entry{"40000", "kept", b.files(map[string]string{"a": "1", "b/c": "2"})},
		entry{"160000", "module", was2}))
	want := []string{"came", "edited", "gone", "kept/b/c", "link", "module", "to-file", "to-file/a", "to-file/b/c",
		"to-folder", "to-folder/x/y"}
	got := since(t, dir, was)
	if !slices.Equal(got.Paths, want) || got.More || got.Gap != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
}

var was1, was2 = plumbing.NewHash(strings.Repeat("1", 40)), plumbing.NewHash(strings.Repeat("2", 40))

// TestSinceSeesWhatGitSees compares random trees with what git says of them.
func TestSinceSeesWhatGitSees(t *testing.T) {
	b, dir := worktree(t)
	chance, files := rand.New(rand.NewPCG(1, 2)), map[string]string{}
	was := b.at(b.files(files))
	for range 40 {
		for range chance.IntN(6) {
			name := fmt.Sprintf("%d/%d/%d", chance.IntN(3), chance.IntN(3), chance.IntN(4))
			if chance.IntN(3) == 0 {
				delete(files, name)
			} else {
				files[name] = fmt.Sprint(chance.IntN(4))
			}
		}
		is := b.at(b.files(files))
		out, err := exec.Command("git", "-C", dir, "diff-tree", "-r", "--no-renames", "--name-only",
			was.String(), is.String()).Output()
		must(t, err)
		got := since(t, dir, was)
		if want := strings.Fields(string(out)); !slices.Equal(got.Paths, want) {
			t.Fatalf("got %q, git says %q", got.Paths, want)
		}
		was = is
	}
}

// A folder that both commits have need not even be there.
func TestSinceEntersNoFolderThatIsTheSame(t *testing.T) {
	b, dir := worktree(t)
	text, was := b.put(plumbing.BlobObject, "1"), b.commit(b.tree(entry{"40000", "huge", was1}))
	b.at(b.tree(entry{"40000", "huge", was1}, entry{"100644", "new", text}))
	if got := since(t, dir, was); !slices.Equal(got.Paths, []string{"new"}) || got.Gap != "" {
		t.Errorf("got %+v", got)
	}
}

func TestSinceSaysWhyItCannotTell(t *testing.T) {
	b, dir := worktree(t)
	lost := b.commit(b.tree(entry{"40000", "lost", was1}))
	now := b.at(b.files(map[string]string{"a": "1"}))
	if got := since(t, dir, now); got.Gap != "" || len(got.Paths) > 0 {
		t.Errorf("a commit differs from itself: %+v", got)
	}
	gap := func(commit, words string) {
		t.Helper()
		got, err := checkout(t, dir).Since(patience(t), commit)
		if err != nil || !strings.Contains(got.Gap, words) || len(got.Paths) > 0 {
			t.Errorf("got %+v, %v, want %q", got, err, words)
		}
	}
	gap(was1.String(), "rewritten")
	gap(strings.Repeat("a", 64), "number its commits")
	gap(lost.String(), "partial")
	gap(b.put(plumbing.BlobObject, "no commit").String(), "rewritten")
	write(t, filepath.Join(b.dir, "shallow"), now.String()+"\n")
	gap(was1.String(), "git fetch --unshallow")
	write(t, filepath.Join(b.dir, "objects", "info", "alternates"), "/nowhere/objects\n")
	gap(was1.String(), "borrows")
}

// A few trees can name each other often enough to make more files than anybody waits for.
func TestSinceEnds(t *testing.T) {
	b, dir := worktree(t)
	level := func(mode string, id plumbing.Hash) plumbing.Hash {
		var all []entry
		for i := range 1000 {
			all = append(all, entry{mode, fmt.Sprint(i), id})
		}
		return b.tree(all...)
	}
	was := b.commit(b.tree())
	b.at(level("40000", level("40000", level("100644", b.put(plumbing.BlobObject, "1")))))
	if got := since(t, dir, was); !got.More || len(got.Paths) == 0 || len(got.Paths) > 1_000_000 {
		t.Errorf("got %d paths, more: %t", len(got.Paths), got.More)
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := checkout(t, dir).Since(gone, was.String()); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestEditedNamesFilesThatDiffer(t *testing.T) {
	b, dir := worktree(t)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"
	kept := map[string]string{"same": "1\n", "edited": "1\n", "sub/edited": "1\n", "crlf": "1\n2\n", "gone": "1\n",
		"lfs": pointer, "linked": "1\n"}
	b.at(b.files(kept))
	for name, text := range map[string]string{"same": "1\n", "edited": "2\n", "sub/edited": "2\n", "crlf": "1\r\n2\r\n",
		"lfs": "what it is about", "new": "1\n"} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	must(t, os.Symlink("new", filepath.Join(dir, "linked")))
	asked := append(slices.Collect(maps.Keys(kept)), "new", "nowhere", "sub", "edited", "../edited", "", "edited/x")
	got, err := checkout(t, dir).Edited(patience(t), asked)
	if want := []string{"edited", "sub/edited"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestACheckoutIsOnlyRead(t *testing.T) {
	b, dir := worktree(t)
	was := b.commit(b.files(map[string]string{"a": "1"}))
	b.at(b.files(map[string]string{"a": "2"}))
	write(t, filepath.Join(dir, "a"), "3")
	before, c := listing(t, dir), checkout(t, dir)
	changes, err := c.Since(patience(t), was.String())
	if err != nil || len(changes.Paths) != 1 {
		t.Fatalf("%+v, %v", changes, err)
	}
	if edited, err := c.Edited(patience(t), changes.Paths); err != nil || len(edited) != 1 {
		t.Fatalf("%q, %v", edited, err)
	}
	same(t, listing(t, dir), before)
}

// Packed objects are found, too, and the objects of a linked work tree.
func TestSinceInALinkedWorktreeOfPacks(t *testing.T) {
	b, dir := worktree(t)
	was := b.commit(b.files(map[string]string{"a": "1", "b/c": "1"}))
	b.ref("refs/heads/old", was)
	b.at(b.files(map[string]string{"a": "1", "b/c": "2"}))
	linked := filepath.Join(t.TempDir(), "linked")
	for _, args := range [][]string{{"config", "core.bare", "false"}, {"repack", "-adq"},
		{"worktree", "add", "-q", "--detach", linked, "master"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	if got := since(t, filepath.Join(linked, "b"), was); !slices.Equal(got.Paths, []string{"b/c"}) {
		t.Errorf("got %+v", got)
	}
	write(t, filepath.Join(linked, "b", "c"), "3")
	edited, err := checkout(t, linked).Edited(patience(t), []string{"a", "b/c"})
	if err != nil || !slices.Equal(edited, []string{"b/c"}) {
		t.Errorf("got %q, %v", edited, err)
	}
}
