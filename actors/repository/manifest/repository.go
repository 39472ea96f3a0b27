package manifest

import (
	"net/url"
	"strings"
)

// repositoryURL understands the ways in which manifests name a repository: "owner/name", "github:owner/name", git+ssh
// and scp forms, web pages of a folder. dir is the folder that such a page shows.
func repositoryURL(s string) (address, dir string) {
	s = strings.TrimSpace(strings.TrimPrefix(s, "scm:git:"))
	s = strings.TrimPrefix(strings.TrimPrefix(s, "scm:"), "git+")
	if full := shorthand(s); full != "" {
		s = full
	}
	if host, rest, ok := strings.Cut(strings.TrimPrefix(s, "git@"), ":"); ok && !strings.Contains(s, "://") &&
		strings.Contains(host, ".") && !strings.ContainsAny(host, `/\ `) {
		s = "https://" + host + "/" + strings.TrimPrefix(rest, "/")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		if strings.Contains(s, "@") {
			return "", "" // whatever it is, it may hold a password
		}
		return s, ""
	}
	switch u.Scheme {
	case "http", "https", "git", "ssh":
		return webURL(u)
	}
	return "", ""
}

func webURL(u *url.URL) (address, dir string) {
	host := u.Host
	if u.Scheme != "https" {
		host = u.Hostname()
	}
	p := strings.Trim(u.EscapedPath(), "/")
	for _, mark := range []string{"/-/tree/", "/tree/", "/src/branch/", "/src/"} {
		if repo, rest, ok := strings.Cut(p, mark); ok && strings.Count(repo, "/") >= 1 {
			_, dir, _ = strings.Cut(rest, "/")
			p = repo
			break
		}
	}
	return "https://" + strings.ToLower(host) + "/" + strings.TrimSuffix(p, ".git"), dir
}

// shorthand expands what npm and others take for a host's name, and a bare pair.
func shorthand(s string) string {
	prefix, rest, ok := strings.Cut(s, ":")
	if !ok {
		if strings.Count(s, "/") == 1 && !strings.ContainsAny(s, " .@\\") {
			return "https://github.com/" + s
		}
		prefix, rest = "", s
	}
	for _, host := range []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"} {
		name, _, _ := strings.Cut(host, ".")
		if prefix == name {
			return "https://" + host + "/" + strings.TrimPrefix(rest, "/")
		}
		if prefix == "" && strings.HasPrefix(rest, host+"/") {
			return "https://" + rest
		}
	}
	return ""
}
