package git

import (
	"context"
	"net/url"
	"strings"
)

// open chooses the transport by the URL's scheme, once the policy has agreed to it.
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

// fromSCP spells user@host:path as a URL, whose path then begins at the user's
// home folder, as git has it.
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
