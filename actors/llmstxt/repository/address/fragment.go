package address

import (
	"regexp"
	"strings"
)

// checkFragment ignores anchors of pages, which people copy along. Any other fragment may be meant as a ref, as in
// package managers, and silently using the default branch instead would be a mistake. A page that names its ref
// leaves no such doubt.
func (v *page) checkFragment(fragment string) error {
	page := len(v.rest) > 0 || v.ref != "" && !v.named
	if fragment == "" || page || anchor.MatchString(fragment) {
		return nil
	}
	return invalid("nothing after a \"#\" in the URL is read; write https://%s/%s@v1 "+
		"for a branch, tag or commit, else leave it out", v.host, strings.Join(v.repo, "/"))
}

// anchor matches the usual anchors of hosts' pages: readme, L12, L12-L20, L3C1-L5C8, lines-12:20.
var anchor = regexp.MustCompile(`^(readme(-ov-file)?|(lines-|L)\d[\dLC:-]*)$`)

func noFragment() error {
	return invalid("there is no such folder, and in the name of a repository a branch, tag or commit " +
		"follows an \"@\", not a \"#\"; write owner/repo@v1")
}
