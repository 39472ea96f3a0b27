package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/llmstxt"
)

// reading is what the flags say of what may be read of a repository, and how much.
type reading struct {
	from              source
	maxFiles          int
	maxFile, maxBytes bytesize
	maxDepth          int
}

// flags adds those of the limits.
func (r *reading) flags(flags *pflag.FlagSet) {
	flags.IntVar(&r.maxFiles, "max-files", 0, "most `files` that are read (default 50,000)")
	flags.Var(&r.maxFile, "max-file-size", "most `bytes` of a file that is read (default 1MiB)")
	flags.Var(&r.maxBytes, "max-bytes", "most `bytes` of all files together (default 2GiB)")
	flags.IntVar(&r.maxDepth, "max-depth", 0, "most `folders` one below the other (default 32)")
}

func (r *reading) judge() error {
	switch {
	case r.maxFiles < 0:
		return errors.New("--max-files must not be negative")
	case r.maxDepth < 0:
		return errors.New("--max-depth must not be negative")
	}
	return nil
}

// limit gives the job, and what is fetched for it, the limits of the flags.
func (r *reading) limit(in *llmstxt.Input) {
	in.MaxFiles, in.MaxDepth = r.maxFiles, r.maxDepth
	in.MaxFileBytes, in.MaxBytes = int64(r.maxFile), int64(r.maxBytes)
	r.from.limits = *in
}
