package repository

import (
	"cmp"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/actors/regular"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// login is a user name and token for a Git host.
type login struct{ user, token string }

// tokenFor returns the token. It ignores the host, because transports ask only for the host of the login.
func (l login) tokenFor(string) string { return l.token }

// loginFor returns the login for the URL's host. A token is sent only to the host that it is configured for, because
// callers and agents may name any host.
func (s *Source) loginFor(address string) (login, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return login{}, nil // no transport sends an HTTP request for it
	}
	named, err := s.namedTokens()
	if err != nil {
		return login{}, err
	}
	host, port := strings.ToLower(u.Hostname()), portOf(u)
	if token := cmp.Or(named[host+":"+port], named[host]); token != "" {
		return login{token: token}, nil
	}
	if port == "443" && (host == "github.com" || strings.HasSuffix(host, ".github.com")) {
		if token := cmp.Or(s.Env.Get(settings.GitToken), s.Env.Get("GH_TOKEN"),
			s.Env.Get("GITHUB_ACCESS_TOKEN")); token != "" {
			return login{token: token}, nil
		}
	}
	if s.RemoteOnly { // callers must not use credentials of this machine
		return login{}, nil
	}
	l := stored(u, s.Env)
	s.Secrets.Add("token", l.token)
	return l, nil
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)])
}

// namedTokens returns the tokens by host, from a file and from the environment. The environment wins.
func (s *Source) namedTokens() (map[string]string, error) {
	named := map[string]string{}
	if name := s.Env.Get(settings.GitTokensFile); name != "" {
		text, err := regular.Read(name, regular.Small)
		if err != nil {
			return nil, exit.Invalid("the file of %s cannot be read: %v", settings.GitTokensFile, exit.Reason(err))
		}
		if err := addTokens(named, string(text), settings.GitTokensFile); err != nil {
			return nil, err
		}
	}
	err := addTokens(named, s.Env.Get(settings.GitTokens), settings.GitTokens)
	for _, token := range named {
		s.Secrets.Add("token", token)
	}
	return named, err
}

// addTokens parses entries host=token, separated by commas or line ends; lines that begin with # are comments. Errors
// do not quote an invalid entry, because it may be a token.
func addTokens(named map[string]string, text, where string) error {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for entry := range strings.FieldsFuncSeq(line, settings.IsSeparator) {
			host, token, _ := strings.Cut(entry, "=")
			if host == "" || token == "" || strings.ContainsAny(host, "/@") {
				return exit.Invalid("%s: an entry is not of the form host=token, such as git.example.com=TOKEN, without https://",
					where)
			}
			named[strings.Trim(strings.ToLower(host), "[]")] = token
		}
	}
	return nil
}

// stored returns the login in git's credential store for the URL's scheme, host and port. It reads the files itself and
// runs no credential helper. It skips entries for a single repository.
func stored(u *url.URL, env environment.Variables) login {
	var files []string
	if home := env.Home(); home != "" {
		files = append(files, filepath.Join(home, ".git-credentials"))
	}
	if dir := env.ConfigFolder(); dir != "" {
		files = append(files, filepath.Join(dir, "git", "credentials"))
	}
	for _, name := range files {
		text, err := regular.Read(name, regular.Small)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
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
