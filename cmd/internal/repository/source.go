package repository

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/messages/source"
	"github.com/seed889630bf/lastword/transport/archive"
	"github.com/seed889630bf/lastword/transport/git"
)

// Source opens what generate reads: a folder, an archive, or a repository to fetch. It downloads only over https from
// public addresses, unless flags allow more.
type Source struct {
	allow       git.Allow
	maxDownload settings.ByteSize
	Limits      scan.Limits // for archives too
	RemoteOnly  bool        // nothing on this machine may be named or read
	Env         environment.Variables
	Secrets     *redact.Secrets
}

func (s *Source) AddFlags(flags *pflag.FlagSet) {
	s.AddHTTPFlag(flags)
	flags.BoolVar(&s.allow.Private, "allow-private", false,
		"read from private addresses and this machine, with file URLs")
	flags.BoolVar(&s.allow.SSH, "allow-ssh", false, "read over ssh, with your keys and known hosts")
	s.AddDownloadFlag(flags)
}

func (s *Source) AddHTTPFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&s.allow.HTTP, "allow-http", false,
		"also read over http, which others can watch and change")
}

// Fix makes refusals not mention flags that the command does not have, such as --allow-private.
func (s *Source) Fix() { s.allow.Fixed = true }

func (s *Source) AddDownloadFlag(flags *pflag.FlagSet) {
	flags.Var(&s.maxDownload, "max-download", "maximum `bytes` from the network (default 256MiB)")
}

func (s *Source) AddLimitFlags(flags *pflag.FlagSet) {
	l := &s.Limits
	flags.IntVar(&l.Files, "max-files", 0, "maximum `number` of files (default 50,000)")
	flags.Var((*settings.ByteSize)(&l.FileBytes), "max-file-size",
		"maximum `bytes` of a file, 16 times as many of a notebook (default 1MiB); skips larger ones")
	flags.Var((*settings.ByteSize)(&l.TotalBytes), "max-bytes", "maximum `bytes` of all files (default 2GiB)")
	flags.IntVar(&l.Depth, "max-depth", 0, "maximum `depth` of folders (default 32)")
}

// Check checks the flags.
func (s *Source) Check() error {
	switch {
	case s.Limits.Files < 0:
		return settings.Negative("--max-files")
	case s.Limits.Depth < 0:
		return settings.Negative("--max-depth")
	}
	return nil
}

// Open finds the repository. It uses the network only to resolve the ref.
func (s *Source) Open(ctx context.Context, at source.Address) (*generate.Material, error) {
	switch {
	case at.Kind == source.Git:
		return s.remote(ctx, at)
	case at.Kind == source.Archive:
		return s.archive(ctx, at)
	}
	if isBare(at.Path) || isUnchecked(at.Path) {
		return s.objects(ctx, at.Path)
	}
	return folder(at.Path)
}

// allowed adds file URLs if private addresses are allowed.
func (s *Source) allowed() git.Allow {
	allow := s.allow
	allow.File = allow.Private
	return allow
}

// folder describes a folder on this machine. Its git files, if it has any, tell the origin; it runs no git.
func folder(path string) (*generate.Material, error) {
	name, version, _ := strings.Cut(filepath.Base(path), "@") // folders in a Go module cache have such names
	m := &generate.Material{Name: name, Read: func(context.Context, func(done, total int64)) (fs.FS, error) {
		root, err := os.OpenRoot(path + "/") // with the slash, opening a pipe fails instead of blocking
		if err != nil {
			return nil, exit.Invalid("cannot open the folder %s: %v", path, exit.Reason(err))
		}
		return confined.TreeOf(root), nil
	}}
	o, err := git.Read(path)
	if err != nil {
		m.Warning = "the origin is not known: " + err.Error()
	}
	m.Origin = scan.ParseOrigin(o.Remote, o.Commit, o.Prefix)
	m.Origin.Branch, m.Origin.Version = o.Branch, version
	return m, nil
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
func (s *Source) objects(ctx context.Context, path string) (*generate.Material, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, exit.Invalid("cannot open the folder %s: %v", path, exit.Reason(err))
	}
	allow := s.allow
	allow.File = true
	m, head, err := s.resolve(ctx, git.Remote{URL: git.FolderURL(absolute)}, git.Options{Allow: allow})
	if err != nil {
		return nil, err
	}
	m.Name = strings.TrimSuffix(filepath.Base(absolute), ".git")
	from, _ := git.Read(path) // without an origin, links are relative
	m.Origin = scan.ParseOrigin(from.Remote, head.Commit, "")
	m.Origin.Branch = head.Ref
	return m, nil
}

// remote describes a repository at a git server. It asks only for the commit; the files are fetched when a run reads
// them.
func (s *Source) remote(ctx context.Context, at source.Address) (*generate.Material, error) {
	shown, err := s.loginFor(at.URL)
	if err != nil {
		return nil, err
	}
	m, head, err := s.resolve(ctx, git.Remote{URL: at.URL, Ref: at.Ref, Rest: at.Rest},
		git.Options{Allow: s.allowed(), Token: shown.tokenFor, User: shown.user, SSH: s.userSSH()})
	if err != nil {
		return nil, err
	}
	head.Dir = cmp.Or(head.Dir, at.Dir)
	m.Origin = scan.ParseOrigin(at.URL, head.Commit, head.Dir)
	if at.Ref == "" && at.Rest == "" {
		m.Origin.Branch = head.Ref
	}
	// A part of a repository has a name of its own.
	m.Name = strings.TrimSuffix(path.Base(cmp.Or(head.Dir, at.URL)), ".git")
	m.Key = at.URL + " " + head.Commit + " " + head.Dir + " " + m.Origin.Branch
	return m, nil
}

// resolve finds the commit. The material has no name and no origin yet, and reads what head names then.
func (s *Source) resolve(ctx context.Context, at git.Remote, o git.Options) (*generate.Material, *git.Head, error) {
	o.Secrets = s.Secrets
	o.Limits = git.Limits{WireBytes: int64(s.maxDownload), UnpackedBytes: s.unpacked(), Files: s.entries(1_000_000)}
	head, err := git.Resolve(ctx, at, o)
	if err != nil {
		return nil, nil, err
	}
	m := new(generate.Material)
	m.Read = func(ctx context.Context, progress func(done, total int64)) (fs.FS, error) {
		files, err := git.Fetch(ctx, at, head, o, progress)
		if head.Lacked > 0 {
			m.Warning = fmt.Sprintf("files that the partial clone has not fetched are left out: %d", head.Lacked)
		}
		return files, err
	}
	return m, head, nil
}

// archive describes an archive. Its name and commit are known only when it was read.
func (s *Source) archive(ctx context.Context, at source.Address) (*generate.Material, error) {
	m := &generate.Material{Name: filepath.Base(cmp.Or(at.Path, at.URL))}
	shown, err := s.loginFor(at.URL)
	if err != nil {
		return nil, err
	}
	o := archive.Options{Allow: s.allowed(), Token: shown.tokenFor, Secrets: s.Secrets, Limits: archive.Limits{
		WireBytes: int64(s.maxDownload), UnpackedBytes: s.unpacked(), FileBytes: s.Limits.FileBytes,
		Files: s.entries(200_000), Depth: max(s.Limits.Depth, 128)}}
	m.Read = func(ctx context.Context, progress func(done, total int64)) (fs.FS, error) {
		a, err := archive.Read(ctx, cmp.Or(at.Path, at.URL), o, progress)
		if err != nil {
			return nil, err
		}
		m.Name, m.Warning = cmp.Or(a.Name, m.Name), skippedWarning(a.Skipped)
		m.Origin = scan.ParseOrigin(publisher(at.URL), a.Commit, "")
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
func (s *Source) unpacked() int64 {
	const least = 1 << 30
	if s.Limits.TotalBytes <= least {
		return 0
	}
	return s.Limits.TotalBytes
}

// entries returns the limit of listed files. It includes files that --max-files does not count.
func (s *Source) entries(least int) int {
	const each = 10 // as in package scan
	return max(least, each*min(s.Limits.Files, math.MaxInt/each))
}

// userSSH returns the user's agent, keys and known hosts, at ssh's default locations.
func (s *Source) userSSH() git.SSH {
	ssh := git.SSH{Agent: s.Env.Get("SSH_AUTH_SOCK"), KnownHosts: []string{"/etc/ssh/ssh_known_hosts"}}
	home := s.Env.Home()
	if home == "" {
		return ssh
	}
	ssh.KnownHosts = append(ssh.KnownHosts, filepath.Join(home, ".ssh", "known_hosts"))
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		ssh.Keys = append(ssh.Keys, filepath.Join(home, ".ssh", name))
	}
	return ssh
}
