package archive

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name returns the first of the file names that is not generic, without ending and version.
func name(files []string) string {
	for _, file := range files {
		if n := bare(path.Base(strings.ReplaceAll(file, `\`, "/"))); !isGeneric(n) {
			return n
		}
	}
	return ""
}

// ending matches what says how an archive is packed.
var ending = regexp.MustCompile(`(?i)(\.orig)?\.(tar(\.gz|\.bz2)?|tgz|tbz2?|zip|crate|gz)$`)

// bare removes the ending and the version from a file name.
func bare(file string) string {
	file = ending.ReplaceAllString(file, "")
	for i, r := range file {
		if (r == '-' || r == '_') && isVersion(file[i+1:]) {
			return file[:i]
		}
	}
	return file
}

var (
	version = regexp.MustCompile(`^v?[0-9]+\.|^v[0-9]+$|^(?i:main|master|trunk|develop|head)$`)
	hash    = regexp.MustCompile(`^[0-9a-f]{7,}$`)
)

// isVersion reports whether the text is a version such as 1.2 or v1, a common branch name or the hash of a commit.
func isVersion(text string) bool {
	return version.MatchString(text) || hash.MatchString(text) && strings.ContainsAny(text, "0123456789")
}

var generic = strings.Fields(". / .. archive download package source src tarball zipball latest release")

// isGeneric reports whether any archive may have this name, or the name is not printable in terminals and file names.
func isGeneric(name string) bool {
	return name == "" || slices.Contains(generic, strings.ToLower(name)) || isVersion(name) || len(name) > 200 ||
		!utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
