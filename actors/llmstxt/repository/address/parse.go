package address

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Parse parses text. exists, unless nil, reports whether a cleaned local path exists. A path with the name of an
// archive is taken for an archive, unless it ends with a slash. Errors have the code invalid_input, say what to write
// instead, and never repeat credentials.
func Parse(text string, exists func(path string) bool) (Address, error) {
	if err := checkText(text); err != nil {
		return Address{}, err
	}
	if strings.Contains(text, "://") {
		return remote(text)
	}
	if a, ok := local(text, exists); ok {
		return a, nil
	}
	switch {
	case looksLocal(text):
		return Address{}, invalid("there is no folder or archive %s", shown(text))
	case strings.Contains(text, `\`):
		return Address{}, invalid("%s has a backslash; %s", shown(text), howTo)
	case strings.Contains(text, ":"):
		return colon(text)
	}
	return short(text)
}

func local(text string, exists func(string) bool) (Address, bool) {
	clean := filepath.Clean(text)
	if exists == nil || !exists(clean) {
		return Address{}, false
	}
	a := Address{Kind: Folder, Path: clean}
	if isArchiveName(text) {
		a.Kind = Archive
	}
	if strings.HasPrefix(clean, "-") {
		a.Path = "./" + clean
	}
	return a, true
}

// looksLocal recognizes paths that only a file system can have.
func looksLocal(text string) bool {
	drive := len(text) > 2 && text[1] == ':' && strings.ContainsRune(`/\`, rune(text[2]))
	return drive || strings.ContainsRune(`./~\`, rune(text[0]))
}

// short parses host/owner/repo without a scheme, and owner/repo on GitHub.
func short(text string) (Address, error) {
	segments := split(text)
	first := segments[0]
	switch {
	case strings.ContainsRune(text, ' '):
		return Address{}, invalid("%s contains a space, and no such folder exists; %s", shown(text), howTo)
	case strings.Contains(first, "@") && len(segments) > 1:
		return Address{}, credentials()
	case strings.Contains(first, ".") && (len(segments) > 2 || isKnown(strings.ToLower(first))):
		return remote("https://" + text)
	case strings.Contains(first, ".") && len(segments) == 2 && (isArchiveName(text) || isDotGit(segments[1])):
		return remote("https://" + text)
	case len(segments) < 2:
		return Address{}, invalid("there is no folder or archive %s; %s", shown(text), howTo)
	case isArchiveName(text) && len(segments) < 4:
		return Address{}, invalid("there is no archive %s; give the path of a file or an https URL", shown(text))
	}
	return github(text, segments)
}

func github(text string, segments []string) (Address, error) {
	pages := len(segments) > 2 && (segments[2] == "tree" || strings.Contains(segments[1], "@"))
	if !gitHubName.MatchString(segments[0]) || len(segments) > 2 && !pages {
		return Address{}, invalid("there is no folder %s, and it does not name a repository; %s", shown(text), howTo)
	}
	if strings.Contains(text, "#") {
		return Address{}, noFragment()
	}
	return remote("https://github.com/" + text)
}

// colon parses text with a colon but without "://": user@host:path as in scp, host:port/path, and github:owner/repo.
func colon(text string) (Address, error) {
	before, after, _ := strings.Cut(text, ":")
	user, host, named := strings.Cut(before, "@")
	if !named {
		user, host = "", before
	}
	site := sites[before]
	first, _, _ := strings.Cut(after, "/")
	switch {
	case !named && strings.Contains(first, "@") && site == "":
		return Address{}, credentials()
	case strings.Contains(host, "/") || after == "" || strings.Contains(user, "/"):
		return Address{}, invalid("%s is neither a folder nor a repository; %s", shown(text), howTo)
	case site != "" && strings.Contains(after, "#"):
		return Address{}, noFragment()
	case site != "":
		return remote(site + after)
	case !named && slices.Contains([]string{"http", "https", "ssh", "file"}, strings.ToLower(host)):
		return Address{}, invalid("%s lacks the slashes of a URL; write %s://…", shown(text), strings.ToLower(host))
	case !named && portNumber.MatchString(first) && strings.Contains(after, "/"):
		return remote("https://" + text)
	case !named && !strings.Contains(host, "."):
		return Address{}, invalid("%s is neither a folder nor a repository; %s", shown(text), howTo)
	}
	return remote("ssh://" + before + "/" + strings.TrimLeft(after, "/"))
}

// sites maps the short names of package managers to URLs.
var sites = map[string]string{
	"github":    "https://github.com/",
	"gh":        "https://github.com/",
	"gitlab":    "https://gitlab.com/",
	"bitbucket": "https://bitbucket.org/",
}

var portNumber = regexp.MustCompile(`^\d{1,5}$`)
