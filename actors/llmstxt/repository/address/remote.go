package address

import (
	"net/url"
	"slices"
	"strings"
)

// remote parses a URL.
func remote(text string) (Address, error) {
	u, err := url.Parse(strings.TrimPrefix(text, "git+"))
	switch {
	case strings.ContainsAny(text, " \\"):
		return Address{}, invalid("the URL contains a space or a backslash; write %%20 for a space")
	case err != nil || u.Opaque != "":
		return Address{}, invalid("the URL cannot be read; %s", howTo)
	case hasCredentials(u):
		return Address{}, credentials()
	}
	if err := checkHost(u); err != nil {
		return Address{}, err
	}
	segments, err := checkPath(u)
	if err != nil {
		return Address{}, err
	}
	switch u.Scheme {
	case "https", "http":
		return web(u, segments)
	case "file":
		return file(u, segments)
	case "ssh":
		return ssh(u, segments)
	}
	return Address{}, invalid("%s:// is not supported; write an https:// URL", u.Scheme)
}

func hasCredentials(u *url.URL) bool {
	if u.User == nil {
		return false
	}
	_, secret := u.User.Password()
	return secret || u.Scheme != "ssh" || !safeName.MatchString(u.User.Username())
}

// checkHost normalizes the spelling of the host.
func checkHost(u *url.URL) error {
	name, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if u.Scheme == "file" {
		if u.Host != "" && name != "localhost" {
			return invalid("file://%s/… names another machine; write file:///folder", shown(name))
		}
		u.Host = ""
		return nil
	}
	if !isHost(name) {
		return invalid("the URL has no host; %s", howTo)
	}
	if bare, ok := strings.CutPrefix(name, "www."); ok && isKnown(bare) {
		name = bare
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	u.Host = name
	if port != "" && port != defaultPorts[u.Scheme] {
		u.Host += ":" + port
	}
	return nil
}

var defaultPorts = map[string]string{"https": "443", "http": "80", "ssh": "22"}

func checkPath(u *url.URL) ([]string, error) {
	segments := split(u.Path)
	if len(segments) == 0 {
		return nil, invalid("the URL names no repository; write https://host/owner/repo")
	}
	for _, s := range segments {
		if s == "." || s == ".." || !isPlain(s) || strings.Contains(s, `\`) {
			return nil, invalid("the URL's path cannot be that of a repository: " +
				"dots alone, control characters or backslashes")
		}
	}
	return segments, nil
}

// web parses a repository, one of its pages, or an archive.
func web(u *url.URL, segments []string) (Address, error) {
	if isArchive(u.Host, segments) {
		return byURL(u), nil
	}
	repo, after, err := divide(u.Host, segments)
	if err != nil {
		return Address{}, err
	}
	v := page{host: u.Host, repo: repo}
	if err := v.read(after); err != nil {
		return Address{}, err
	}
	return v.address(u)
}

func byURL(u *url.URL) Address {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery,
		Path: strings.TrimRight(u.Path, "/"), RawPath: strings.TrimRight(u.RawPath, "/")}
	return Address{Kind: Archive, URL: plain.String()}
}

// file parses a file URL. It has no refs: an "@" is part of the folder's name.
func file(u *url.URL, segments []string) (Address, error) {
	if isArchiveName(u.Path) {
		return byURL(u), nil
	}
	if u.Fragment != "" {
		return Address{}, invalid("a file:// URL names a folder alone; leave out the \"#\" and what follows, " +
			"or write %%23 where it is part of a name")
	}
	plain := url.URL{Scheme: "file", Path: "/" + strings.Join(segments, "/")}
	return Address{Kind: Git, URL: plain.String()}, nil
}

func ssh(u *url.URL, segments []string) (Address, error) {
	v := page{host: u.Host, repo: segments}
	if end := slices.IndexFunc(segments, isDotGit); end >= 0 {
		v.repo = segments[:end+1]
		if end+1 < len(segments) {
			return Address{}, v.notRepository()
		}
	} else if at := refAt(segments); at >= 0 {
		v.cutRef(segments, at)
	}
	if hasTwoNames(u.Host) && len(v.repo) != 2 {
		return Address{}, v.notRepository()
	}
	return v.address(u)
}
