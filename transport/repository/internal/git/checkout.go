package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// Checkout is a local work tree with its repository. It never writes. It must be used by one goroutine at a time.
type Checkout struct {
	Top  string // real path of the work tree
	Head string // checked-out commit, hexadecimal; "" before the first one

	storage *filesystem.Storage
	git     string // real path of the git folder that all work trees of the repository share
}

// OpenCheckout opens the work tree that contains dir, be it a clone, a linked work tree or a submodule. If
// there is none, it returns nil without an error.
func OpenCheckout(dir string) (*Checkout, error) {
	top, private, err := discover(dir)
	if err != nil || private == "" {
		return nil, err
	}
	shared, err := readPointer(filepath.Join(private, "commondir"), "")
	if err != nil {
		return nil, err
	}
	files := guarded{osfs.New(private)}
	var common billy.Filesystem
	if shared != "" {
		common = guarded{osfs.New(shared)}
	} else {
		shared = private
	}
	storage := filesystem.NewStorageWithOptions(dotgit.NewRepositoryFilesystem(files, common),
		cache.NewObjectLRU(16*cache.MiByte), filesystem.Options{KeepDescriptors: true})
	c := &Checkout{Top: top, storage: storage, git: shared}
	if err := c.readHead(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if c.git == "" {
		return nil, c.Close()
	}
	return c, nil
}

// readHead reads HEAD. If there is no HEAD, this is not a repository, and readHead sets git to "".
func (c *Checkout) readHead() error {
	if _, err := c.storage.Reference(plumbing.HEAD); err != nil {
		c.git = ""
		return nil
	}
	head, err := storer.ResolveReference(c.storage, plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the checked-out commit of %s: %w", c.Top, err)
	}
	if !head.Hash().IsZero() { // go-git returns zero for an invalid hash
		c.Head = head.Hash().String()
	}
	return nil
}

// Close closes the object files.
func (c *Checkout) Close() error { return c.storage.Close() }

// config returns the repository's configuration. It refuses repositories whose format of objects or refs this package
// cannot read. Extensions for partial clones are accepted.
func (c *Checkout) config() (*config.Config, error) {
	cfg, err := c.storage.Config()
	if err != nil {
		return nil, fmt.Errorf("read the git configuration of %s: %w", c.Top, err)
	}
	extensions := cfg.Raw.Section("extensions")
	if format := extensions.Option("objectformat"); format != "" && !strings.EqualFold(format, "sha1") {
		return nil, messages.InvalidInput("the repository of %s numbers its commits by %.20q, which is not supported", c.Top, format)
	}
	if format := extensions.Option("refstorage"); format != "" && !strings.EqualFold(format, "files") {
		return nil, messages.InvalidInput("the repository of %s keeps its branches in a %.20q, which is not supported", c.Top, format)
	}
	return cfg, nil
}

// discover finds the nearest work tree at or above dir, and its git folder. Both are "" if there is none.
func discover(dir string) (top, git string, err error) {
	if top, err = realPath(dir); err != nil {
		return "", "", err
	}
	for {
		name := filepath.Join(top, ".git")
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			return top, name, nil
		case err == nil:
			git, err := readPointer(name, "gitdir: ")
			return top, git, err
		case !errors.Is(err, fs.ErrNotExist):
			return "", "", err
		}
		above := filepath.Dir(top)
		if above == top {
			return "", "", nil
		}
		top = above
	}
}

// maxPointer is the maximum size, in bytes, of a file that contains a path.
const maxPointer = 8 << 10

// readPointer returns the path in a file with one line, or "" if the file does not exist.
func readPointer(name, prefix string) (string, error) {
	f, _, err := regular.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", messages.InvalidInput("%s does not say where its repository is", name)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPointer+1))
	path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if err != nil || len(text) > maxPointer || !ok || path == "" {
		return "", messages.InvalidInput("%s does not say where its repository is", name)
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(name), path)
	}
	if path, err = realPath(path); err != nil {
		return "", messages.InvalidInput("%s leads to a repository that is not there: %s", name, oneLine(err.Error()))
	}
	return path, nil
}

// realPath returns the absolute path without symbolic links.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

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
// remote has it, or its main or master. Where nothing of the remote is known, the checked-out branch will be pushed.
func (c *Checkout) branch(remote string) string {
	of := "refs/remotes/" + remote + "/"
	if head, err := c.storage.Reference(plumbing.ReferenceName(of + "HEAD")); err == nil {
		return strings.TrimPrefix(head.Target().String(), of)
	}
	head, err := c.storage.Reference(plumbing.HEAD)
	if err != nil || remote == "" || !head.Target().IsBranch() {
		return ""
	}
	for _, name := range []string{head.Target().Short(), "main", "master"} {
		if _, err := c.storage.Reference(plumbing.ReferenceName(of + name)); err == nil {
			return name
		}
	}
	all, err := c.storage.IterReferences()
	if err == nil {
		err = all.ForEach(func(ref *plumbing.Reference) error {
			if strings.HasPrefix(ref.Name().String(), of) {
				return errEnough
			}
			return nil
		})
	}
	if err != nil {
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
	l := c.reader()
	tree, err := l.treeOf(plumbing.NewHash(c.Head))
	if err != nil {
		return true
	}
	dir, name := path.Split(prefix)
	found := l.filesIn(tree, dir)[name].mode
	return found == filemode.Dir || found == filemode.Submodule
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
