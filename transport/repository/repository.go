package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/archive"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

// Options configure how repositories are opened. The zero value allows folders of this machine, and https to public
// addresses.
type Options struct {
	Allow  Allow
	Limits Limits
	// MaxDownload bounds the bytes from the network; 0 means 256 MiB.
	MaxDownload int64
	// RemoteOnly refuses repositories on this machine, and does not use its user's logins.
	RemoteOnly bool
	// Tokens returns access tokens by the name of their host, or host:port. A name that begins with a dot stands for
	// the host and all hosts below it. No other host gets the token. It may be nil.
	Tokens func() (map[string]string, error)
	// Credentials are files of git's credential store, for hosts without a token. They may be missing.
	Credentials []string
	SSH         SSH
	// Secrets get to know the logins, and are removed from errors. It may be nil.
	Secrets *redact.Secrets
}

// Allow says what is allowed besides https at public addresses.
type Allow struct {
	HTTP    bool // http, which others can watch and change
	Private bool // addresses that are not public, the proxy of the environment, and file URLs
	SSH     bool // ssh, with the user's keys
	// Fixed: the user cannot allow more, so that refusals name no flag except --allow-http.
	Fixed bool
}

func (a Allow) policy() dial.Policy {
	return dial.Policy{HTTP: a.HTTP, Private: a.Private, SSH: a.SSH, File: a.Private, Fixed: a.Fixed}
}

// Limits bound what is read of a repository. A zero field means its default.
type Limits struct {
	Files      int   // number of text files; default 50,000
	FileBytes  int64 // size of one text file; default 1 MiB
	TotalBytes int64 // size of all text files; default 2 GiB
	Depth      int   // folders below the top; default 32
}

// SSH is what ssh needs to know about the user. The configuration files of ssh are not read.
type SSH struct {
	Agent      string   // socket of the agent, as in SSH_AUTH_SOCK
	KnownHosts []string // files with host keys; they may be missing
	Keys       []string // files with private keys; those that are unreadable or have a passphrase are skipped
}

// Open finds the repository at an address: a folder, an archive, owner/repo on GitHub, or a URL. It uses the network
// only to resolve the ref. Errors: invalid_input if the repository does not exist or is not allowed; others may be
// temporary.
func Open(ctx context.Context, address string, o Options) (*source.Repository, error) {
	located, err := source.Locate(address, o.RemoteOnly)
	if err != nil {
		return nil, err
	}
	return o.Open(ctx, located)
}

// Open is the function [Open] for an address that was parsed.
func (o Options) Open(ctx context.Context, address source.Address) (*source.Repository, error) {
	switch {
	case o.RemoteOnly && address.Path != "":
		return nil, messages.InvalidInput("no folders or files of this machine are read; give the https URL of a repository, or start the server with --allow-local")
	case address.Kind == source.Git:
		return o.remote(ctx, address)
	case address.Kind == source.Archive:
		return o.archive(ctx, address)
	}
	if isBare(address.Path) || isUnchecked(address.Path) {
		return o.objects(ctx, address.Path)
	}
	return o.folder(ctx, address.Path)
}

// folder describes a folder on this machine. Its git files, if it has any, tell the origin, and which files belong to the
// repository; it runs no git.
func (o Options) folder(ctx context.Context, path string) (*source.Repository, error) {
	name, version, _ := strings.Cut(filepath.Base(path), "@") // folders in a Go module cache have such names
	m := &source.Repository{Name: name, Read: func(context.Context, func(done, total int64)) (fs.FS, error) {
		root, err := regular.Root(path)
		if err != nil {
			return nil, messages.InvalidInput("cannot open the folder %s: %v", path, reason(err))
		}
		return confined.TreeOf(root), nil
	}}
	from, err := git.Read(path)
	if err != nil {
		m.Warning = "the origin is not known: " + err.Error()
	}
	m.Remote, m.Commit, m.Folder, m.Branch, m.Version = from.Remote, from.Commit, from.Prefix, from.Branch, version
	tracked, lacked, err := git.Tracked(path)
	switch m.Tracked = tracked; {
	case err != nil && m.Warning == "":
		m.Warning = "the index of git cannot be read, so .gitignore decides which files count: " + reason(err).Error()
	case lacked > 0:
		m.Warning = fmt.Sprintf("the checkout is sparse and lacks %s", words.Count(lacked, "file"))
		o.complete(ctx, m, path)
	}
	return m, nil
}

// complete makes a sparse checkout be read from its commit, where that has all files.
func (o Options) complete(ctx context.Context, m *source.Repository, path string) {
	if m.Folder != "" {
		return
	}
	all, err := o.objects(ctx, path)
	if err != nil {
		return
	}
	present := m.Read
	m.Warning += ": the files of the commit are read, without later changes"
	m.Read = func(ctx context.Context, progress func(done, total int64)) (fs.FS, error) {
		files, err := all.Read(ctx, progress)
		if m.Warning = all.Warning; err == nil {
			m.Tracked = all.Tracked
			return files, nil
		}
		m.Warning = "only the files of the sparse checkout are read: " + err.Error()
		return present(ctx, progress)
	}
}

// isBare reports whether the folder is a Git repository without a work tree, by git's own rules.
func isBare(path string) bool {
	for name, folder := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || info.IsDir() != folder {
			return false
		}
	}
	return true
}

// isUnchecked reports whether the folder has a Git repository from which nothing was checked out.
func isUnchecked(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 1 && entries[0].Name() == ".git" && entries[0].IsDir()
}

// objects reads the newest commit of a local repository that has no files outside of its objects.
func (o Options) objects(ctx context.Context, path string) (*source.Repository, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, messages.InvalidInput("cannot open the folder %s: %v", path, reason(err))
	}
	allow := o.Allow.policy()
	allow.File = true
	m, head, err := o.resolve(ctx, git.Remote{URL: git.FolderURL(absolute)}, git.Options{Allow: allow})
	if err != nil {
		return nil, err
	}
	m.Name = strings.TrimSuffix(filepath.Base(absolute), ".git")
	from, _ := git.Read(path) // without an origin, links are relative
	m.Remote, m.Commit, m.Branch = from.Remote, head.Commit, head.Ref
	return m, nil
}

// remote describes a repository at a git server. It asks only for the commit; the files are fetched when a run reads
// them.
func (o Options) remote(ctx context.Context, address source.Address) (*source.Repository, error) {
	shown, err := o.loginFor(address.URL)
	if err != nil {
		return nil, err
	}
	m, head, err := o.resolve(ctx, git.Remote{URL: address.URL, Ref: address.Ref, Rest: address.Rest},
		git.Options{Allow: o.Allow.policy(), Token: shown.tokenFor, User: shown.user, SSH: git.SSH(o.SSH)})
	if err != nil {
		return nil, err
	}
	head.Dir = cmp.Or(head.Dir, address.Dir)
	m.Remote, m.Commit, m.Folder = address.URL, head.Commit, head.Dir
	if address.Ref == "" && address.Rest == "" {
		m.Branch = head.Ref
	}
	// A part of a repository has its own name.
	m.Name = strings.TrimSuffix(path.Base(cmp.Or(head.Dir, address.URL)), ".git")
	m.Key = address.URL + " " + head.Commit + " " + head.Dir + " " + m.Branch
	return m, nil
}

// resolve finds the commit. The material has no name and no origin yet, and reads what head names then.
func (o Options) resolve(ctx context.Context, at git.Remote, how git.Options) (*source.Repository, *git.Head, error) {
	how.Secrets = o.Secrets
	how.Limits = git.Limits{WireBytes: o.MaxDownload, UnpackedBytes: o.unpacked(), Files: o.entries(1_000_000)}
	head, err := git.Resolve(ctx, at, how)
	if err != nil {
		return nil, nil, err
	}
	m := &source.Repository{Tracked: func(string) bool { return true }}
	m.Read = func(ctx context.Context, progress func(done, total int64)) (fs.FS, error) {
		files, err := git.Fetch(ctx, at, head, how, progress)
		if head.Lacked > 0 {
			m.Warning = fmt.Sprintf("files that the partial clone has not fetched are left out: %d", head.Lacked)
		}
		return files, err
	}
	return m, head, nil
}

// archive describes an archive. Its name and commit are known only when it was read.
func (o Options) archive(ctx context.Context, address source.Address) (*source.Repository, error) {
	m := &source.Repository{Name: filepath.Base(cmp.Or(address.Path, address.URL))}
	shown, err := o.loginFor(address.URL)
	if err != nil {
		return nil, err
	}
	how := archive.Options{Allow: o.Allow.policy(), Token: shown.tokenFor, Secrets: o.Secrets, Limits: archive.Limits{
		WireBytes: o.MaxDownload, UnpackedBytes: o.unpacked(), FileBytes: o.Limits.FileBytes,
		Files: o.entries(200_000), Depth: max(o.Limits.Depth, 128)}}
	m.Read = func(ctx context.Context, progress func(done, total int64)) (fs.FS, error) {
		a, err := archive.Read(ctx, cmp.Or(address.Path, address.URL), how, progress)
		if err != nil {
			return nil, err
		}
		m.Name, m.Warning = cmp.Or(a.Name, m.Name), skippedWarning(a.Skipped)
		m.Remote, m.Commit = publisher(address.URL), a.Commit
		return a.Files, nil
	}
	return m, nil
}

// skippedWarning returns a warning about what was left out of an archive, or "".
func skippedWarning(s archive.Skipped) string {
	var words []string
	for _, of := range []struct {
		n    int
		what string
	}{
		{s.Paths, "with an unsafe name"},
		{s.Duplicates, "with a name that is taken"},
		{s.Special, "that are devices, pipes or hard links"},
		{s.Broken, "that are encrypted, damaged or compressed in an unknown way"},
	} {
		if of.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "left out of the archive: " + strings.Join(words, ", ")
}

// publisher returns the URL of the repository from which a forge made the archive, or "".
func publisher(url string) string {
	repository, _, ok := strings.Cut(url, "/archive/")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(repository, "/-")
}

// unpacked returns the limit of unpacked bytes. It includes binary and vendored files, which --max-bytes does not
// count.
func (o Options) unpacked() int64 {
	const least = 1 << 30
	if o.Limits.TotalBytes <= least {
		return 0
	}
	return o.Limits.TotalBytes
}

// entries returns the limit of listed files. It includes files that --max-files does not count.
func (o Options) entries(least int) int {
	const each = 10 // as in package scan
	return max(least, each*min(o.Limits.Files, math.MaxInt/each))
}

// reason returns the error without its path, which the message names.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
