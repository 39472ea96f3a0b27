package source

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// page is a page of a repository at a host.
type page struct {
	host  string
	repo  []string
	ref   string
	named bool // an "@" introduces a ref
	rest  []string
}

// nameEnd returns how many segments name the repository.
func nameEnd(host string, segments []string) int {
	if hasTwoNames(host) {
		return 2
	}
	if i := slices.Index(segments, "-"); i > 0 { // GitLab's mark
		return i
	}
	if i := slices.IndexFunc(segments, isDotGit); i >= 0 {
		return i + 1
	}
	if i := refAt(segments); i >= 0 {
		return i + 1
	}
	return pageAt(segments)
}

// pageAt returns the first segment that begins a page, at hosts whose repositories may have any number of segments.
func pageAt(segments []string) int {
	for i := 2; i < len(segments); i++ {
		s := segments[i]
		if s == "tree" || s == "blob" || s == "src" && i+1 < len(segments) && isGitea(segments[i+1]) {
			return i
		}
	}
	return len(segments)
}

func isGitea(s string) bool { return s == "branch" || s == "tag" || s == "commit" }

// refAt finds the segment "repo@ref" or "repo.git@ref".
func refAt(segments []string) int {
	for i, s := range segments {
		name, _, ok := strings.Cut(s, "@")
		if ok && name != "" && (i > 0 || isDotGit(name)) {
			return i
		}
	}
	return -1
}

// cutRef takes everything after the "@" as the ref.
func (v *page) cutRef(segments []string, pos int) {
	name, ref, _ := strings.Cut(segments[pos], "@")
	v.repo = append(slices.Clone(segments[:pos]), name)
	v.ref, v.named = strings.Join(append([]string{ref}, segments[pos+1:]...), "/"), true
}

// read reads what follows the repository's name. The page of a file stands for the file's folder.
func (v *page) read(after []string) error {
	last := len(v.repo) - 1
	switch {
	case len(after) > 0 && after[0] == "-":
		after = after[1:]
	case refAt(v.repo) == last && !isDotGit(v.repo[last]):
		v.cutRef(slices.Concat(v.repo, after), last)
		return nil
	}
	if len(after) == 0 {
		return nil
	}
	switch page, more := after[0], after[1:]; {
	case page == "tree":
		v.rest = more
	case (page == "blob" || page == "raw" || page == "blame" || page == "edit") && len(more) > 1:
		v.rest = more[:len(more)-1]
	case page == "src" && v.host != "github.com":
		// Gitea and Forgejo name the kind of ref, and Bitbucket does not.
		if len(more) > 1 && isGitea(more[0]) && v.host != "bitbucket.org" {
			more = more[1:]
		}
		v.rest = more
	case page == "commit" && len(more) == 1:
		v.ref = more[0]
	case page == "releases" && len(more) > 1 && more[0] == "tag" && hasTwoNames(v.host):
		v.ref = strings.Join(more[1:], "/")
	default:
		return v.notRepository()
	}
	return nil
}

// address checks the page and returns its address. A single segment can only be the ref.
func (v *page) address(u *url.URL) (Address, error) {
	if err := v.checkFragment(u.Fragment); err != nil {
		return Address{}, err
	}
	if len(v.rest) == 1 {
		v.ref, v.rest = v.rest[0], nil
	}
	a := Address{Kind: Git, Ref: v.ref, Rest: strings.Join(v.rest, "/")}
	if err := v.check(a); err != nil {
		return Address{}, err
	}
	repo := strings.Join(v.repo, "/")
	if isKnown(v.host) {
		repo = strings.TrimSuffix(repo, ".git")
	}
	// Without GitLab's mark or .git, some names would read as a page or a ref. GitLab reserves them.
	names := strings.Split(repo, "/")
	ends := nameEnd(v.host, names) == len(names) && (isDotGit(names[len(names)-1]) || refAt(names) < 0)
	if !ends && !hasTwoNames(v.host) {
		return Address{}, v.notRepository()
	}
	plain := url.URL{Scheme: u.Scheme, User: u.User, Host: v.host, Path: "/" + repo}
	a.URL = plain.String()
	return a, nil
}

// check checks the names and the ref. a is the address as read so far.
func (v *page) check(a Address) error {
	if len(v.repo) > maxNames {
		return messages.InvalidInput("the URL has %d groups before the repository, and no host allows so many; %s", len(v.repo)-1, howTo)
	}
	for _, name := range v.repo {
		twice := isKnown(v.host) && strings.HasSuffix(name, ".git.git") // the hosts take one .git off
		if strings.HasPrefix(name, "-") || strings.Trim(strings.TrimSuffix(name, ".git"), ".") == "" || len(name) > maxName || twice {
			return messages.InvalidInput("%s cannot be the name of an owner or a repository; %s", shown(name), howTo)
		}
	}
	if v.host == "github.com" && (!gitHubName.MatchString(v.repo[0]) || !safeName.MatchString(v.repo[1])) {
		return messages.InvalidInput("%s is not a repository on GitHub; write owner/repo", shown(strings.Join(v.repo, "/")))
	}
	ref := a.Ref
	if len(v.rest) > 0 {
		ref = v.rest[0]
	}
	if v.named && ref == "" || !isRef(ref) {
		return messages.InvalidInput("%s cannot be a branch, tag or commit", shown(ref))
	}
	return nil
}

// notRepository returns the error of a page that names no repository; it says what to write instead.
func (v *page) notRepository() error {
	switch {
	case v.host == "github.com" && isGitHubPage(v.repo[0]):
		return messages.InvalidInput("the URL names a page of GitHub, not a repository; write https://github.com/OWNER/REPO")
	case len(v.repo) == 1 && isKnown(v.host):
		return messages.InvalidInput("https://%s/%s names an owner, not a repository; write https://%[1]s/%[2]s/REPO",
			v.host, v.repo[0])
	}
	repo := v.repo
	if hasTwoNames(v.host) {
		repo = repo[:2]
	}
	return messages.InvalidInput("the URL names a page of the repository; write https://%s/%s, "+
		"with /tree/BRANCH/FOLDER for a part of it", v.host, strings.Join(repo, "/"))
}

// checkFragment ignores anchors of pages, which people copy along. Any other fragment may be meant as a ref, as in
// package managers, and silently using the default branch instead would be a mistake. A page that names its ref
// leaves no such doubt.
func (v *page) checkFragment(fragment string) error {
	page := len(v.rest) > 0 || v.ref != "" && !v.named
	if fragment == "" || page || anchor.MatchString(fragment) {
		return nil
	}
	return messages.InvalidInput("nothing after a \"#\" in the URL is read; write https://%s/%s@v1 "+
		"for a branch, tag or commit, else leave it out", v.host, strings.Join(v.repo, "/"))
}

// anchor matches the usual anchors of hosts' pages: readme, L12, L12-L20, L3C1-L5C8, lines-12:20.
var anchor = regexp.MustCompile(`^(readme(-ov-file)?|(lines-|L)\d[\dLC:-]*)$`)

func noFragment() error {
	return messages.InvalidInput("there is no such folder; to name a branch, tag or commit, write owner/repo@v1, and not owner/repo#v1")
}

// treeMark returns what is between repository and ref in the host's own pages. For an unknown host, and where there are
// no pages, it is the only mark that cannot be part of a path.
func treeMark(u *url.URL) string {
	if u.Scheme == "ssh" {
		return "/-/tree/"
	}
	return cmp.Or(treeMarks[u.Host], "/-/tree/")
}

var treeMarks = map[string]string{
	"github.com":    "/tree/",
	"bitbucket.org": "/src/",
	"codeberg.org":  "/src/branch/",
	"gitea.com":     "/src/branch/",
}
