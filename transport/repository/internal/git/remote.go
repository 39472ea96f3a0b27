package git

import (
	"cmp"
	"context"
	"io/fs"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
)

// Allow says which URLs are allowed besides https at public addresses.
type Allow = dial.Policy

// Remote names a repository and a version of it, as the user wrote them.
type Remote struct {
	URL  string // https, http, ssh or file URL, or user@host:path
	Ref  string // branch, tag or full hash of a commit; "" means that Rest has it, or the default branch
	Rest string // ref and folder in one, as in ".../tree/feature/x/docs"; ignored if Ref is set
}

// Options configure how a remote is read. The zero Options read public repositories over https.
type Options struct {
	Allow  Allow
	Limits Limits
	// Token returns the token for a host, or "". It is sent only over https, or over http to this machine, and never to
	// another host after a redirect.
	Token func(host string) string
	User  string // user name for the token; "" for the one that the kind of host needs
	// Secrets are removed from server texts in errors, and so is the token. It may be nil.
	Secrets *redact.Secrets
	SSH     SSH
}

// Limits bound a [Fetch]. Fields that are not positive take the defaults.
type Limits struct {
	WireBytes     int64 // received bytes; default 256 MiB
	UnpackedBytes int64 // size of all unpacked objects, and of all listed files; default 1 GiB
	ObjectBytes   int64 // size of one object in memory; default a 32nd of UnpackedBytes. Larger files are listed, but reading them fails
	Files         int   // number of files and folders; default 1,000,000
}

// orDefaults replaces the limits that are not set.
func (l Limits) orDefaults() Limits {
	unpacked := cmp.Or(max(l.UnpackedBytes, 0), 1<<30)
	return Limits{
		WireBytes:     cmp.Or(max(l.WireBytes, 0), 256<<20),
		UnpackedBytes: unpacked,
		ObjectBytes:   cmp.Or(max(l.ObjectBytes, 0), max(unpacked/32, 1<<20)),
		Files:         cmp.Or(max(l.Files, 0), 1_000_000),
	}
}

// Head is the commit that a [Remote] currently refers to.
type Head struct {
	Commit string // 40 hexadecimal digits
	Ref    string // branch or tag, without refs/heads/; "" for a commit given by its hash, or an unnamed default
	Dir    string // folder from Remote.Rest; "" is the whole repository
	Lacked int    // files that are missing in the result of [Fetch], because the source is a partial clone
}

// source provides the refs and objects of one repository.
type source interface {
	refs(ctx context.Context) (*refs, error)
	objects(ctx context.Context, commit plumbing.Hash) (objects, error)
	close()
}

// objects finds objects by their hash.
type objects interface {
	size(h plumbing.Hash) (int64, error)
	read(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, error) // safe for concurrent use
}

// Resolve requests the remote's refs, and finds the one that is meant. If Remote.Rest contains a ref and a folder, the
// longest matching branch or tag is the ref.
func Resolve(ctx context.Context, remote Remote, o Options) (head *Head, err error) {
	err = visit(ctx, remote, o, nil, func(ctx context.Context, from source, _ Limits) error {
		all, err := from.refs(ctx)
		if err == nil {
			head, err = all.resolve(remote)
		}
		return err
	})
	return head, err
}

// Fetch returns the files of head's commit below head.Dir, which the caller may set. Contents are unpacked when they
// are read. progress, if not nil, is called by the calling goroutine with the number of received bytes; total is 0,
// because git does not tell it.
func Fetch(
	ctx context.Context, remote Remote, head *Head, o Options, progress func(done, total int64),
) (files fs.FS, err error) {
	commit, ok := commitID(head.Commit)
	if !ok {
		return nil, messages.InvalidInput("%.80q is not a commit; give all 40 hexadecimal digits", head.Commit)
	}
	dir := strings.Trim(head.Dir, "/")
	if dir != "" && !fs.ValidPath(dir) {
		return nil, messages.InvalidInput("%.200q is not a folder's path", head.Dir)
	}
	err = visit(ctx, remote, o, progress, func(ctx context.Context, from source, limits Limits) error {
		all, err := from.objects(ctx, commit)
		if err == nil {
			files, head.Lacked, err = list(ctx, all, commit, dir, limits)
		}
		return err
	})
	return files, err
}

// visit opens the remote for read. The error has no secrets.
func visit(ctx context.Context, remote Remote, o Options, progress func(done, total int64),
	read func(ctx context.Context, from source, limits Limits) error) error {
	if o.Secrets == nil {
		o.Secrets = new(redact.Secrets) // for the token
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	o.Limits = o.Limits.orDefaults()
	ctx, cancel := context.WithCancel(ctx) // releases what the transport still holds
	defer cancel()
	from, err := open(ctx, remote.URL, o, progress)
	if err == nil {
		defer from.close()
		err = read(ctx, from, o.Limits)
	}
	return o.Secrets.Error(err)
}

// open opens a source, depending on the URL's scheme, if the policy allows that.
func open(ctx context.Context, text string, o Options, progress func(done, total int64)) (source, error) {
	u, err := o.Allow.Parse(fromSCP(text))
	if err != nil {
		return nil, err
	}
	m := &meter{limit: o.Limits.WireBytes, progress: progress}
	switch strings.ToLower(u.Scheme) {
	case "file":
		return openFolder(u, o.Limits)
	case "ssh":
		return openSSH(ctx, u, o, m)
	}
	return openHTTP(u, o, m)
}

// fromSCP converts user@host:path to a URL. As in git, the path is relative to the user's home folder.
func fromSCP(text string) string {
	host, path, found := strings.Cut(text, ":")
	if !found || strings.HasPrefix(path, "//") || strings.ContainsAny(host, `/\`) || path == "" {
		return text
	}
	user, name, found := strings.Cut(host, "@")
	if !found {
		return text
	}
	if !strings.HasPrefix(path, "/") {
		path = "/~/" + path
	}
	return (&url.URL{Scheme: "ssh", User: url.User(user), Host: name, Path: path}).String()
}
