package address

import (
	"regexp"
	"strings"
)

// checkFragment drops the places of pages that people copy along. Whatever else follows a "#" may be meant for a ref,
// as package managers have it, and the default branch in its stead would be a silent mistake. A page that names its
// ref leaves no such doubt.
func (v *page) checkFragment(fragment string) error {
	page := len(v.rest) > 0 || v.ref != "" && !v.named
	if fragment == "" || page || anchor.MatchString(fragment) {
		return nil
	}
	return invalid("nothing after a \"#\" in the URL is read; write https://%s/%s@v1 "+
		"for a branch, tag or commit, else leave it out", v.host, strings.Join(v.repo, "/"))
}

// anchor is what the hosts' pages are linked with: readme, L12, L12-L20, L3C1-L5C8, lines-12:20.
var anchor = regexp.MustCompile(`^(readme(-ov-file)?|(lines-|L)\d[\dLC:-]*)$`)

func noFragment() error {
	return invalid("there is no such folder, and in the name of a repository a branch, tag or commit " +
		"follows an \"@\", not a \"#\"; write owner/repo@v1")
}
