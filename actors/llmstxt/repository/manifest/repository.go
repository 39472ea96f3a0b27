package manifest

import (
	"net/url"
	"strings"
)

// repositoryURL understands the forms in which manifests name a repository: "owner/name", "github:owner/name",
// git+ssh and scp forms, and web pages of a folder. dir is the folder that such a page shows.
func repositoryURL(s string) (address, dir string) {
	s = strings.TrimSpace(strings.TrimPrefix(s, "scm:git:"))
	s = full(strings.TrimPrefix(strings.TrimPrefix(s, "scm:"), "git+"))
	if host, rest, ok := strings.Cut(strings.TrimPrefix(s, "git@"), ":"); ok && !strings.Contains(s, "://") &&
		strings.Contains(host, ".") && !strings.ContainsAny(host, `/\ `) {
		s = "https://" + host + "/" + strings.TrimPrefix(rest, "/")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		if strings.Contains(s, "@") {
			return "", "" // whatever it is, it may contain a password
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

// hosts maps the short names of hosts in manifests to their URLs.
var hosts = map[string]string{"github": "https://github.com/", "gitlab": "https://gitlab.com/",
	"bitbucket": "https://bitbucket.org/", "codeberg": "https://codeberg.org/"}

// full expands a short host name, a bare pair, and an address without a scheme, as npm and others do.
func full(s string) string {
	short, rest, _ := strings.Cut(s, ":")
	host, _, _ := strings.Cut(s, ".")
	switch {
	case hosts[short] != "":
		return hosts[short] + strings.TrimPrefix(rest, "/")
	case strings.Count(s, "/") == 1 && !strings.ContainsAny(s, " .@:\\"):
		return hosts["github"] + s
	case strings.HasPrefix("https://"+s, hosts[host]) && hosts[host] != "":
		return "https://" + s
	}
	return s
}
