package git

import (
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
)

// Origin is what git knows about a folder. It is zero outside a repository. Each field may be empty.
type Origin struct {
	Remote string // URL of the remote as written in the configuration, without credentials
	Commit string // checked-out commit, hexadecimal; "" before the first one
	Branch string // default branch of the remote, or the checked-out branch if the remote has it; "" if unknown
	Prefix string // path of the folder from the top of its work tree, with slashes
}

// Read returns the origin of dir, which may be anywhere in a work tree, a linked work tree or a submodule. A folder
// within a work tree that is not in the checked-out commit has no origin. The remote is the one named "origin", or the
// only one.
func Read(dir string) (Origin, error) {
	c, err := OpenCheckout(dir)
	if c == nil || err != nil {
		return Origin{}, err
	}
	o, err := c.Origin(dir)
	return o, errors.Join(err, c.Close())
}

// Origin returns the origin of a folder in the work tree; see [Read].
func (c *Checkout) Origin(dir string) (Origin, error) {
	cfg, err := c.config()
	if err != nil {
		return Origin{}, err
	}
	o := Origin{Commit: c.Head}
	if o.Prefix, err = c.prefix(dir); err != nil {
		return Origin{}, err
	}
	if !c.contains(o.Prefix) {
		return Origin{}, nil
	}
	name, address := remote(cfg.Remotes)
	o.Remote, o.Branch = withoutCredentials(address), c.branch(name)
	return o, nil
}

// branch returns the default branch of a remote, as far as the clone knows it, or else the checked-out branch if the
// remote has it.
func (c *Checkout) branch(remote string) string {
	of := "refs/remotes/" + remote + "/"
	if head, err := c.storage.Reference(plumbing.ReferenceName(of + "HEAD")); err == nil {
		return strings.TrimPrefix(head.Target().String(), of)
	}
	head, err := c.storage.Reference(plumbing.HEAD)
	if err != nil || !head.Target().IsBranch() {
		return ""
	}
	if _, err := c.storage.Reference(plumbing.ReferenceName(of + head.Target().Short())); err != nil {
		return ""
	}
	return head.Target().Short()
}

// prefix returns the folder's path from the top. It resolves links first, because a Checkout knows only its real path.
func (c *Checkout) prefix(dir string) (string, error) {
	dir, err := realPath(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(c.Top, dir)
	if err != nil || rel == "." {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// contains reports whether the commit has the folder. It returns true if the commit cannot be read, as in a shallow or
// partial clone.
func (c *Checkout) contains(prefix string) bool {
	if prefix == "" || c.Head == "" {
		return prefix == ""
	}
	tree, err := c.tree()
	if err != nil {
		return true
	}
	entry, err := tree.FindEntry(prefix)
	return err == nil && !entry.Mode.IsFile()
}

// remote returns the name and address of the remote that counts.
func remote(remotes map[string]*config.RemoteConfig) (name, address string) {
	name = "origin"
	if remotes[name] == nil && len(remotes) == 1 {
		for only := range remotes {
			name = only
		}
	}
	if r := remotes[name]; r != nil && len(r.URLs) > 0 {
		return name, r.URLs[0]
	}
	return "", ""
}

// withoutCredentials removes user, password, query and fragment from a URL, and the password from host:path. It returns
// "" if it cannot parse the remote.
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
