package repository

import (
	"cmp"
	"io"
	"io/fs"
	"net/url"
	"strings"

	"github.com/seed889630bf/lastword/internal/regular"
)

// login is a user name and token for a Git host.
type login struct{ user, token string }

// tokenFor returns the token. It ignores the host, because transports ask only for the host of the login.
func (l login) tokenFor(string) string { return l.token }

// loginFor returns the login for the URL's host. A token is sent only to the host that it is configured for, because
// callers and agents may name any host.
func (o Options) loginFor(address string) (login, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return login{}, nil // no transport sends an HTTP request for it
	}
	var tokens map[string]string
	if o.Tokens != nil {
		if tokens, err = o.Tokens(); err != nil {
			return login{}, err
		}
	}
	l := login{token: tokenOf(tokens, strings.ToLower(u.Hostname()), portOf(u))}
	if l.token == "" && !o.RemoteOnly { // callers must not use credentials of this machine
		l = stored(u, o.Credentials)
	}
	o.Secrets.Add("token", l.token)
	return l, nil
}

// tokenOf returns the token for a host: its own, or one that is for all hosts below another.
func tokenOf(tokens map[string]string, host, port string) string {
	token := cmp.Or(tokens[host+":"+port], tokens[host])
	for rest, more := host, true; token == "" && more; _, rest, more = strings.Cut(rest, ".") {
		token = cmp.Or(tokens["."+rest+":"+port], tokens["."+rest])
	}
	return token
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)])
}

// stored returns the login in git's credential store for the URL's scheme, host and port. It reads the files itself and
// runs no credential helper. It skips entries for a single repository.
func stored(u *url.URL, files []string) login {
	for _, name := range files {
		text, err := readFile(name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			at, err := url.Parse(strings.TrimSpace(line))
			if err != nil || !strings.EqualFold(at.Scheme, u.Scheme) || !strings.EqualFold(at.Hostname(), u.Hostname()) ||
				portOf(at) != portOf(u) || strings.Trim(at.Path, "/") != "" {
				continue
			}
			if password, _ := at.User.Password(); password != "" {
				return login{at.User.Username(), password}
			}
		}
	}
	return login{}
}

// readFile returns the text of a file of credentials.
func readFile(name string) (string, error) {
	const most = 1 << 20
	f, info, err := regular.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > most {
		return "", fs.ErrInvalid
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return string(text), err
}
