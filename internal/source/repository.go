package source

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Repository is a repository that was found at an address. Read gets its files.
type Repository struct {
	Name    string // used if the remote is unknown
	Remote  string // URL in any of git's forms; "" if unknown
	Commit  string // hexadecimal; "" if unknown
	Folder  string // the part that is read, relative to the top; "" is everything
	Branch  string // default branch; "" if unknown
	Version string // release of the files; "" if unknown
	// Key identifies the content of the files before they are read, as a commit does. It may be "".
	Key string
	// Tracked reports whether git tracks the file, or a file of the folder; nil if that is unknown.
	Tracked func(path string) bool
	// Warning says what is unknown or missing; usually "".
	Warning string
	// Read returns the files, and may set the other fields. It calls progress with the number of bytes received; total is
	// 0 if unknown. Network errors may be retried.
	Read func(ctx context.Context, progress func(done, total int64)) (fs.FS, error)
}

// Locate is [Parse] with the file system of this machine: the path of a local address is absolute and exists. With
// remoteOnly it refuses such paths without looking for them.
func Locate(repository string, remoteOnly bool) (address Address, err error) {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if remoteOnly {
		exists = nil
	}
	address, err = Parse(repository, exists)
	if remoteOnly && (err == nil && address.Path != "" || err != nil && !strings.Contains(repository, "://")) {
		return address, messages.InvalidInput("this server reads no local folders or files; give the https URL of a repository, " +
			"or owner/repo, or start it with lastword serve --allow-local")
	}
	if err != nil || address.Path == "" {
		return address, err
	}
	if address.Path, err = filepath.Abs(address.Path); err != nil {
		return address, messages.InvalidInput("%v", err)
	}
	if info, err := os.Stat(address.Path); address.Kind == Folder && (err != nil || !info.IsDir()) {
		return address, messages.InvalidInput("%s is not a folder; name the folder that holds the repository", repository)
	}
	return address, nil
}
