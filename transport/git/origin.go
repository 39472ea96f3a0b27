package git

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
)

// Origin is what git knows of a folder; the zero Origin is that of a folder
// outside any repository. Each field may be empty on its own.
type Origin struct {
	Remote string // URL of the remote, in its own spelling, without credentials
	Commit string // checked-out commit, hexadecimal; "" before the first one
	Prefix string // the folder below the top of its work tree, slash separated
}

// Read tells the origin of dir, which may lie anywhere in a work tree, be a
// linked work tree, a submodule or a bare repository. A folder that only lies
// below a repository, without being part of the checked-out commit, has none.
// The remote is the one named "origin", else the only one there is.
func Read(dir string) (Origin, error) {
	repo, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if errors.Is(err, git.ErrRepositoryNotExists) {
		return Origin{}, nil
	}
	if err != nil {
		return Origin{}, fmt.Errorf("open the git repository of %s: %w", dir, err)
	}
	var o Origin
	if o.Prefix, err = prefix(repo, dir); err != nil {
		return Origin{}, err
	}
	if o.Commit, err = head(repo); err != nil {
		return Origin{}, err
	}
	if !contains(repo, o) {
		return Origin{}, nil
	}
	cfg, err := repo.Config()
	if err != nil {
		return Origin{}, fmt.Errorf("read the git configuration of %s: %w", dir, err)
	}
	o.Remote = withoutCredentials(remote(cfg.Remotes))
	return o, nil
}

func head(repo *git.Repository) (string, error) {
	ref, err := repo.Head()
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the checked-out commit: %w", err)
	}
	return ref.Hash().String(), nil
}

// prefix resolves links on both sides, for a work tree knows its real path only.
func prefix(repo *git.Repository, dir string) (string, error) {
	tree, err := repo.Worktree()
	if errors.Is(err, git.ErrIsBareRepository) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	top, err := realPath(tree.Filesystem.Root())
	if err != nil {
		return "", err
	}
	dir, err = realPath(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// contains asks the commit whether it knows the folder. Where the commit cannot
// be read, as in a shallow or partial copy, it is believed.
func contains(repo *git.Repository, o Origin) bool {
	if o.Prefix == "" {
		return true
	}
	if o.Commit == "" {
		return false
	}
	commit, err := repo.CommitObject(plumbing.NewHash(o.Commit))
	if err != nil {
		return true
	}
	tree, err := commit.Tree()
	if err != nil {
		return true
	}
	entry, err := tree.FindEntry(o.Prefix)
	return err == nil && !entry.Mode.IsFile()
}

func remote(remotes map[string]*config.RemoteConfig) string {
	r := remotes["origin"]
	if r == nil && len(remotes) == 1 {
		for _, only := range remotes {
			r = only
		}
	}
	if r == nil || len(r.URLs) == 0 {
		return ""
	}
	return r.URLs[0]
}

// withoutCredentials drops user, password, query and fragment of a URL, and the
// password of host:path; a remote that cannot be understood is dropped whole.
func withoutCredentials(remote string) string {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return ""
		}
		u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
		return u.String()
	}
	login, rest, found := strings.Cut(remote, "@")
	if !found || strings.ContainsAny(login, `/\`) {
		return remote
	}
	user, _, _ := strings.Cut(login, ":")
	if slices.Contains([]string{"git", "hg", "gitea", "gitlab"}, user) {
		return user + "@" + rest
	}
	return rest
}
