package scan

import (
	"cmp"
	"fmt"
)

// Limits bounds a scan; a zero field takes its default. A file over a limit is left out and counted in
// [Repository.Left], and the scan goes on. Only when the limits leave nothing at all, when the folder holds more than
// ten entries for each file that may be kept, or when ignore files take too many steps to match, does Read give up
// with a [LimitError].
type Limits struct {
	Files      int   // files kept, default 50,000
	FileBytes  int64 // size of one file, default 1 MiB; a notebook may have 16 times as many
	TotalBytes int64 // sizes of the kept files together, default 2 GiB
	Depth      int   // folders below the root, default 32
}

// entriesPerFile times Limits.Files entries may be looked at.
const entriesPerFile = 10

func (l Limits) withDefaults() Limits {
	return Limits{
		Files:      cmp.Or(max(l.Files, 0), 50_000),
		FileBytes:  cmp.Or(max(l.FileBytes, 0), 1<<20),
		TotalBytes: cmp.Or(max(l.TotalBytes, 0), 2<<30),
		Depth:      cmp.Or(max(l.Depth, 0), 32),
	}
}

// tooLarge grants notebooks more: pictures take most of their bytes, and their words stand at the head.
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

// overLimits say what is over a limit, and name the flag that raises it.
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

// exceeded gives the error for what was left out by a limit, nil for other reasons.
func (l Limits) exceeded(r Reason) *LimitError {
	return map[Reason]*LimitError{
		TooLarge:  {What: "bytes of one file", Limit: l.FileBytes},
		TooDeep:   {What: "depth", Limit: int64(l.Depth)},
		OverFiles: {What: "files", Limit: int64(l.Files)},
		OverBytes: {What: "bytes", Limit: l.TotalBytes},
	}[r]
}
