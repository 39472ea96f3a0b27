package archive

import (
	"path"
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

// bare removes the ending and the version from a file name.
func bare(file string) string {
	file = withoutEnding(file)
	for i, r := range file {
		if (r == '-' || r == '_') && isVersion(file[i+1:]) {
			return file[:i]
		}
	}
	return file
}

// withoutEnding removes the ending that says how the archive is packed.
func withoutEnding(file string) string {
	lower := strings.ToLower(file)
	for _, ending := range []string{".tar.gz", ".tar.bz2", ".tgz", ".tbz2", ".tbz", ".tar", ".zip", ".crate", ".gz"} {
		if strings.HasSuffix(lower, ending) {
			return strings.TrimSuffix(file[:len(file)-len(ending)], ".orig")
		}
	}
	return file
}

// isVersion reports whether the text is a version such as 1.2 or v1, a common branch name or the hash of a commit.
func isVersion(text string) bool {
	switch strings.ToLower(text) {
	case "main", "master", "trunk", "develop", "head":
		return true
	}
	number, marked := strings.CutPrefix(text, "v")
	rest := strings.TrimLeft(number, "0123456789")
	if rest != number && (strings.HasPrefix(rest, ".") || marked && rest == "") {
		return true
	}
	return len(text) >= 7 && strings.Trim(text, "0123456789abcdef") == "" && strings.ContainsAny(text, "0123456789")
}

// isGeneric reports whether any archive may have this name, or the name is not printable.
func isGeneric(name string) bool {
	switch strings.ToLower(name) {
	case "", ".", "/", "..", "archive", "download", "package", "source", "src", "tarball", "zipball", "latest", "release":
		return true
	}
	return isVersion(name) || len(name) > 200 || !isPrintable(name)
}

// isPrintable reports whether the name is safe in terminals and file names.
func isPrintable(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
