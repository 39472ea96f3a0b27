package scan

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
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
	Ignored    Reason = "ignored" // by a .gitignore or .lastwordignore
	Untracked  Reason = "not tracked by git"
	Unexported Reason = "export-ignore in .gitattributes"
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
	if len(commit) >= 7 && len(commit) <= 64 && commitID.MatchString(commit) {
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

// splitRemote returns host and path of a remote. Only an https URL keeps its port, because Origin.Remote is one.
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
	hostName = lazyregexp.New(`^\w[\w.-]*$`)
	segment  = lazyregexp.New(`^[\w.~+][\w.~+-]*$`)
	commitID = lazyregexp.New(`^[0-9a-f]+$`)
)

// safeSegments accepts what hosting sites accept in names, and nothing that a file system or a URL takes for more
// than a name.
func safeSegments(p string) bool {
	list := strings.Split(p, "/")
	return len(list) <= maxSegments && !slices.ContainsFunc(list, func(s string) bool {
		return s == "." || s == ".." || len(s) > maxSegment || !segment.MatchString(s)
	})
}
