package scan

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Origin says where a folder comes from. Owner and Repo are safe as path segments: never empty between slashes, never
// "." or "..".
type Origin struct {
	Remote string // https URL without credentials; "" unless Host, Owner and Repo are known
	Host   string // with the port, if it is in an https remote
	Owner  string // everything before the last segment, such as "group/subgroup" on GitLab
	Repo   string // without ".git"
	Commit string // hexadecimal, "" when unknown
	Branch string // default branch; "" when unknown
	Prefix string // the scanned folder relative to the top of the repository; "" for the top
	// Version is the release of the files, from the folder names of a module cache; "" when unknown.
	Version string
}

// ParseOrigin parses a remote in git's usual forms: https and ssh URLs, and host:path. A local path or an unknown
// form gives an Origin without a remote. prefix is slash-separated.
func ParseOrigin(remote, commit, prefix string) Origin {
	o := Origin{Prefix: strings.Trim(path.Clean("/"+prefix), "/")}
	if commitID.MatchString(commit) {
		o.Commit = commit
	}
	host, repo, ok := splitRemote(strings.TrimSpace(remote))
	if !ok {
		return o
	}
	repo = strings.TrimSuffix(strings.Trim(repo, "/"), ".git")
	owner, name := path.Split(repo)
	owner = strings.Trim(owner, "/")
	if !safeSegments(owner) || !safeSegments(name) {
		return o
	}
	o.Host, o.Owner, o.Repo = strings.ToLower(host), owner, name
	o.Remote = "https://" + o.Host + "/" + o.Owner + "/" + o.Repo
	return o
}

func splitRemote(remote string) (host, repo string, ok bool) {
	if !strings.Contains(remote, "://") {
		// host:path, as in scp. A slash before the colon makes it a local path, and a single letter a drive.
		host, repo, ok := strings.Cut(remote, ":")
		if !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) {
			return "", "", false
		}
		remote = "ssh://" + host + "/" + repo
	}
	u, err := url.Parse(remote)
	if err != nil || !hostName.MatchString(u.Hostname()) {
		return "", "", false
	}
	switch u.Scheme {
	case "https":
		return u.Host, u.Path, true
	case "http", "git", "ssh", "git+ssh", "ssh+git", "git+https":
		return u.Hostname(), u.Path, true
	}
	return "", "", false
}

// Owners become folders. No hosting site nests them deeper, or has longer names.
const (
	maxSegments = 32
	maxSegment  = 255 // bytes
)

var (
	hostName = regexp.MustCompile(`^\w[\w.-]*$`)
	segment  = regexp.MustCompile(`^[\w.~+][\w.~+-]*$`)
	commitID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// safeSegments accepts what hosting sites accept in names, and nothing that a file system or a URL takes for more
// than a name.
func safeSegments(p string) bool {
	list := strings.Split(p, "/")
	return len(list) <= maxSegments && !slices.ContainsFunc(list, func(s string) bool {
		return s == "." || s == ".." || len(s) > maxSegment || !segment.MatchString(s)
	})
}
