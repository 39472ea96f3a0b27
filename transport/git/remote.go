package git

import (
	"context"
	"io/fs"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/transport/internal/dial"
)

// Allow says what may be read besides https from public addresses.
type Allow = dial.Policy

// Remote names a repository and a state of it, as the user wrote them.
type Remote struct {
	URL  string // https, http, ssh or file URL, or user@host:path
	Ref  string // branch, tag or all 40 digits of a commit; "" where Rest tells, or for the default branch
	Rest string // ref and folder in one, as in ".../tree/feature/x/docs"; not looked at where Ref is given
}

// Options configure how a remote is read. The zero Options read public repositories over https.
type Options struct {
	Allow  Allow
	Limits Limits
	// Token returns the token for a host name, or "". It is sent over https, or over http to this machine, and never
	// to another host after a redirect.
	Token func(host string) string
	User  string // that goes with the token; "" for the one that the host's kind takes
	// Secrets are removed from what errors quote of a server. The token is added; nil is the token alone.
	Secrets *redact.Secrets
	SSH     SSH
}

// Limits bound a [Fetch]. Fields that are not positive take the defaults.
type Limits struct {
	WireBytes     int64 // what the server sends; 256 MiB
	UnpackedBytes int64 // all objects unpacked, and all files listed; 1 GiB
	ObjectBytes   int64 // one object in memory; a 32nd of UnpackedBytes. A larger file is listed and cannot be read
	Files         int   // files and folders; 1,000,000
}

func (l Limits) orDefaults() Limits {
	set := func(field *int64, value int64) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.WireBytes, 256<<20)
	set(&l.UnpackedBytes, 1<<30)
	set(&l.ObjectBytes, max(l.UnpackedBytes/32, 1<<20))
	if l.Files <= 0 {
		l.Files = 1_000_000
	}
	return l
}

// withSecrets makes Secrets if there are none, to add the token to.
func (o Options) withSecrets() Options {
	if o.Secrets == nil {
		o.Secrets = new(redact.Secrets)
	}
	return o
}

// Head is what a [Remote] currently refers to.
type Head struct {
	Commit string // 40 hexadecimal digits
	Ref    string // branch or tag, without refs/heads/; "" for a commit by its number, or a default without name
	Dir    string // folder from Remote.Rest, "" for all
}

// source provides refs and objects.
type source interface {
	refs(ctx context.Context) (*refs, error)
	objects(ctx context.Context, commit plumbing.Hash) (objects, error)
	close()
}

// objects looks objects up by hash.
type objects interface {
	size(h plumbing.Hash) (int64, error)
	read(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, error) // by many goroutines at once
}

// Resolve asks the remote for its refs and finds the one that is meant. If Remote.Rest holds a ref and a folder, the
// ref is the longest branch or tag that it begins with.
func Resolve(ctx context.Context, remote Remote, o Options) (head *Head, err error) {
	o = o.withSecrets()
	defer func() { err = o.Secrets.Error(err) }()
	ctx, cancel := context.WithCancel(ctx) // lets go of whatever the transport still holds
	defer cancel()
	from, err := open(ctx, remote.URL, o, func(int64, int64) {})
	if err != nil {
		return nil, err
	}
	defer from.close()
	all, err := from.refs(ctx)
	if err != nil {
		return nil, err
	}
	return all.resolve(remote)
}

// Fetch reads the files of head's commit below head.Dir, which the caller may set. Contents are unpacked when they
// are read. progress, which may be nil, gets the bytes received; total is 0, as git does not say. It is called by the
// goroutine that called Fetch.
func Fetch(
	ctx context.Context, remote Remote, head *Head, o Options, progress func(done, total int64),
) (files fs.FS, err error) {
	o = o.withSecrets()
	defer func() { err = o.Secrets.Error(err) }()
	commit, ok := commitID(head.Commit)
	if !ok {
		return nil, invalid("%.80q is not a commit; give all 40 hexadecimal digits", head.Commit)
	}
	dir := strings.Trim(head.Dir, "/")
	if dir != "" && !fs.ValidPath(dir) {
		return nil, invalid("%.200q is not a folder's path", head.Dir)
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, err := open(ctx, remote.URL, o, progress)
	if err != nil {
		return nil, err
	}
	defer from.close()
	all, err := from.objects(ctx, commit)
	if err != nil {
		return nil, err
	}
	return list(ctx, all, commit, dir, o.Limits.orDefaults())
}

// open chooses the transport by the URL's scheme, if the policy allows it.
func open(ctx context.Context, text string, o Options, progress func(done, total int64)) (source, error) {
	u, err := o.Allow.Parse(fromSCP(text))
	if err != nil {
		return nil, err
	}
	m := &meter{limit: o.Limits.orDefaults().WireBytes, progress: progress}
	switch strings.ToLower(u.Scheme) {
	case "file":
		return openFolder(u, o.Limits.orDefaults())
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
