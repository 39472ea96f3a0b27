package scan

import (
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// ignoreBytes bounds an ignore file; what lies beyond is not heeded.
const ignoreBytes = 256 << 10

// excludes reads the repository's private ignore file. Ignore files above the
// root are out of reach, as is the user's own.
func excludes(files fs.FS) []gitignore.Pattern {
	return ignoreFile(files, ".git/info/exclude", nil)
}

func ignoreFile(files fs.FS, name string, domain []string) []gitignore.Pattern {
	name = nameOf(append(slices.Clip(domain), name))
	info, err := fs.Lstat(files, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignoreBytes))
	if err != nil {
		return nil
	}
	return patterns(string(text), domain)
}

func patterns(text string, domain []string) []gitignore.Pattern {
	var list []gitignore.Pattern
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' || strings.TrimSpace(line) == "" {
			continue
		}
		list = append(list, gitignore.ParsePattern(line, domain))
	}
	return list
}
