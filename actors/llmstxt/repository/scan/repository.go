package scan

import (
	"cmp"
	"fmt"
)

// Repository is the content of a folder.
type Repository struct {
	Name   string // base name of the folder, without the "@version" of a module cache
	Files  []File // sorted by path
	Left   []Left // what was left out, sorted by reason
	Origin Origin // set by callers; Read leaves it zero
}

// File is one text file of the repository.
type File struct {
	Path     string // slash separated, relative to the root, valid UTF-8
	Size     int64  // bytes
	Language string // "" if neither the name nor a "#!" line tells
	Kind     Kind
	Place    Place
	Package  string   // Go only: name in the package clause; "" if that is beyond HeadBytes
	Imports  []string // Go only; not for tests and generated files
}

// Kind says what a file is.
type Kind uint8

const (
	Other Kind = iota
	Document
	Source
	Manifest // go.mod, package.json and their like
	Config   // of builds, tools, services and the product itself
)

// Place says what a file is for.
type Place uint8

const (
	Product Place = iota
	Example
	Test      // tests and their data
	Meta      // folders for tools: .github and every other dot folder
	Generated // written by a program; includes lock files and minified files
)

// Reason says why something was left out.
type Reason string

const (
	Ignored    Reason = "ignored"         // by a .gitignore or .lastwordignore
	VCS        Reason = "version control" // .git and its like
	Vendored   Reason = "vendored"
	Binary     Reason = "binary"
	Secret     Reason = "may hold secrets"
	Symlink    Reason = "symlink"             // within the root, so its target is read anyway
	Escape     Reason = "symlink out of root" // refused
	Irregular  Reason = "not a regular file"
	Unreadable Reason = "unreadable"
	BadName    Reason = "name is not UTF-8"
	TooLarge   Reason = "larger than the file limit"
	TooDeep    Reason = "deeper than the depth limit"
	OverFiles  Reason = "over the limit of files"
	OverBytes  Reason = "over the limit of bytes"
)

// Left counts what was left out for one reason. A folder counts once, whatever it contains, because it was not
// entered.
type Left struct {
	Reason  Reason
	Files   int
	Folders int
	Bytes   int64  // of the files whose size was read
	First   string // path of the first one in walking order
}

// Limits bound a scan. A zero field means its default. A file over a limit is left out and counted in
// [Repository.Left], and the scan continues. Read fails with a [LimitError] only if the limits leave nothing at all,
// if the folder holds more than ten entries for each file that may be kept, or if ignore files take too many steps to
// match.
type Limits struct {
	Files      int   // number of kept files; default 50,000
	FileBytes  int64 // size of one file; default 1 MiB; a notebook may have 16 times as many
	TotalBytes int64 // sum of the sizes of kept files; default 2 GiB
	Depth      int   // folders below the root; default 32
}

// entriesPerFile times Limits.Files is the greatest number of entries that are examined.
const entriesPerFile = 10

func (l Limits) withDefaults() Limits {
	return Limits{
		Files:      cmp.Or(max(l.Files, 0), 50_000),
		FileBytes:  cmp.Or(max(l.FileBytes, 0), 1<<20),
		TotalBytes: cmp.Or(max(l.TotalBytes, 0), 2<<30),
		Depth:      cmp.Or(max(l.Depth, 0), 32),
	}
}

// tooLarge allows notebooks more, because pictures take most of their bytes, and the words come first.
func (l Limits) tooLarge(name string, size int64) bool {
	if extension(name) == ".ipynb" {
		size /= 16
	}
	return size > l.FileBytes
}

// LimitError says that a limit left nothing to work with.
type LimitError struct {
	What  string // "entries", "files", "bytes of one file", "bytes", "depth" or "ignore rules"
	Limit int64
}

// overLimits explains each limit, and names the flag that raises it.
var overLimits = map[string]string{
	"entries": "the repository has more than %d files and folders; name a folder in it, " +
		"exclude folders with .lastwordignore, or raise --max-files (a tenth of that)",
	"files":             "the repository has more than %d files; raise --max-files",
	"bytes of one file": "every file of the repository is larger than %d bytes; raise --max-file-size",
	"ignore rules": "the files .gitignore, .lastwordignore and .gitattributes take more than %d steps to match; " +
		"write fewer patterns with wildcards, or name a folder of the repository",
	"depth": "the repository has no file in the first %d levels of folders; " +
		"name a folder further down, or raise --max-depth",
	"bytes": "the repository has more than %d bytes; raise --max-bytes",
}

func (e *LimitError) Error() string { return fmt.Sprintf(overLimits[e.What], e.Limit) }

// exceeded returns the error for a reason that is a limit, or nil.
func (l Limits) exceeded(r Reason) *LimitError {
	return map[Reason]*LimitError{
		TooLarge:  {What: "bytes of one file", Limit: l.FileBytes},
		TooDeep:   {What: "depth", Limit: int64(l.Depth)},
		OverFiles: {What: "files", Limit: int64(l.Files)},
		OverBytes: {What: "bytes", Limit: l.TotalBytes},
	}[r]
}
