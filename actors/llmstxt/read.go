package llmstxt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Source says where files come from.
type Source struct {
	Name   string // used if Origin is empty
	Origin Origin
	// Base is the prefix of relative links, for an llms.txt that lies outside the repository. Options.LinkBase takes
	// precedence.
	Base string
	// Skip reports whether a file does not belong to the repository, such as output of an earlier run. It may be nil.
	Skip func(path string) bool
	// Tracked reports whether a file, or a file of a folder, belongs to the repository. nil: .gitignore tells.
	Tracked func(path string) bool
	// Limits bound what is read.
	Limits Limits
}

// Origin says where files come from; see [ParseOrigin]. Owner and Repo are safe as path segments: never empty between
// slashes, never "." or "..".
type Origin struct {
	Remote  string // https URL without credentials; "" unless Host, Owner and Repo are known
	Host    string // with the port, if it is in an https remote
	Owner   string // everything before the last segment, such as "group/subgroup" on GitLab
	Repo    string // without ".git"
	Commit  string // hexadecimal, "" when unknown
	Branch  string // default branch; "" when unknown
	Prefix  string // the folder relative to the top of the repository; "" for the top
	Version string // release of the files, from the folder names of a module cache; "" when unknown
}

// ParseOrigin parses a remote in git's usual forms: https and ssh URLs, and host:path. A local path or an unknown
// form gives an Origin without a remote. prefix is slash-separated.
func ParseOrigin(remote, commit, prefix string) Origin {
	return Origin(scan.ParseOrigin(remote, commit, prefix))
}

// Limits bound what is read. A zero field means its default. A file over a limit is left out, and the reading
// continues.
type Limits struct {
	Files      int   // number of text files; default 50,000
	FileBytes  int64 // size of one file; default 1 MiB; a notebook may have 16 times as many
	TotalBytes int64 // sum of the sizes; default 2 GiB
	Depth      int   // folders below the top; default 32
}

// Caller connects a step to its caller. Every function may be nil.
type Caller struct {
	// Go runs f concurrently. Its error is the caller's error.
	Go func(f func(ctx context.Context) error)
	// Progress is called with the amount of work done; total is 0 if unknown.
	Progress func(done, total int64, unit string)
	// Info and Warn get messages for the readers of the files.
	Info, Warn func(text string)
}

func (c Caller) progress(done, total int, unit string) {
	if c.Progress != nil {
		c.Progress(int64(done), int64(total), unit)
	}
}

func tell(to func(text string), text string) {
	if to != nil {
		to(text)
	}
}

// Repository is a repository that was read.
type Repository struct {
	scan    *scan.Repository
	files   fs.FS
	base    string
	largest int64 // bytes of the largest file, or 0
	options Options
}

// Read reads the repository in files. Errors: invalid_input if an option is wrong or there is nothing to read;
// limit_exceeded; and the cause of ctx.
func Read(ctx context.Context, files fs.FS, from Source, o Options, by Caller) (*Repository, error) {
	o, err := o.Checked()
	if err != nil {
		return nil, err
	}
	r := &Repository{files: files, base: from.Base, largest: from.Limits.FileBytes, options: o}
	r.scan, err = scan.Read(ctx, r.files, scan.Limits(from.Limits), from.Tracked, func(done int) { by.progress(done, 0, "entries") })
	if over, ok := errors.AsType[*scan.LimitError](err); ok {
		return nil, messages.LimitExceeded("%v", over)
	} else if err != nil {
		return nil, err
	}
	r.scan.Name, r.scan.Origin = from.Name, scan.Origin(from.Origin)
	if from.Skip != nil {
		r.scan.Files = stable.DeleteFunc(r.scan.Files, func(f scan.File) bool { return from.Skip(f.Path) })
	}
	for _, omitted := range r.scan.Left {
		tell(by.Info, fmt.Sprintf("skipped, %s: %s, %s, first %s",
			omitted.Reason, words.Count(omitted.Files, "file"), words.Count(omitted.Folders, "folder"), omitted.First))
	}
	if len(r.scan.Files) == 0 {
		return nil, errNothingReadable(r.scan.Left)
	}
	return r, nil
}

// Len returns the number of text files.
func (r *Repository) Len() int { return len(r.scan.Files) }

// Paths returns the paths of the text files.
func (r *Repository) Paths() []string { return paths(r.scan.Files) }

// errNothingReadable is the error for a repository without a readable file.
func errNothingReadable(all []scan.Left) error {
	var why []string
	for _, omitted := range all {
		why = append(why, fmt.Sprintf("%s: %s", omitted.Reason, omitted.First))
	}
	if len(why) == 0 {
		return messages.InvalidInput("the repository is empty; name a folder that holds text files")
	}
	return messages.InvalidInput("the repository has no text file to read (%s)", strings.Join(why, ", "))
}
