package llmstxt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// Source says where files come from.
type Source struct {
	Name   string // used if Origin is empty
	Origin scan.Origin
	// Base is the prefix of relative links, for an llms.txt that lies outside the repository. Options.LinkBase takes
	// precedence.
	Base string
	// Skip reports whether a file does not belong to the repository, such as output of an earlier run. It may be nil.
	Skip func(scan.File) bool
	// Limits bound what is read.
	Limits scan.Limits
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
	Scan    *scan.Repository
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
	r.Scan, err = scan.Read(ctx, r.files, from.Limits, func(done int) { by.progress(done, 0, "entries") })
	if over, ok := errors.AsType[*scan.LimitError](err); ok {
		return nil, exceeded("%v", over)
	} else if err != nil {
		return nil, err
	}
	r.Scan.Name, r.Scan.Origin = from.Name, from.Origin
	if from.Skip != nil {
		r.Scan.Files = slices.DeleteFunc(r.Scan.Files, from.Skip)
	}
	for _, left := range r.Scan.Left {
		tell(by.Info, fmt.Sprintf("skipped, %s: %s, %s, first %s",
			left.Reason, words.Count(left.Files, "file"), words.Count(left.Folders, "folder"), left.First))
	}
	if len(r.Scan.Files) == 0 {
		return nil, errNothingReadable(r.Scan.Left)
	}
	return r, nil
}

// errNothingReadable is the error for a repository without a readable file.
func errNothingReadable(all []scan.Left) error {
	var why []string
	for _, left := range all {
		why = append(why, fmt.Sprintf("%s: %s", left.Reason, left.First))
	}
	if len(why) == 0 {
		return invalid("the repository is empty; name a folder that holds text files")
	}
	return invalid("the repository has no text file to read (%s)", strings.Join(why, ", "))
}

func exceeded(format string, args ...any) error {
	return messages.Errorf(messages.CauseLimitExceeded, format, args...)
}
