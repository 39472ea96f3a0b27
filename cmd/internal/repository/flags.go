package repository

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// Flags is what the flags say of what may be read of a repository, and how much.
type Flags struct {
	Source            Source
	MaxFiles          int
	maxFile, maxBytes settings.ByteSize
	maxDepth          int
}

// AddLimitFlags adds those of the limits.
func (r *Flags) AddLimitFlags(flags *pflag.FlagSet) {
	flags.IntVar(&r.MaxFiles, "max-files", 0, "most `files` that are read (default 50,000)")
	flags.Var(&r.maxFile, "max-file-size", "most `bytes` of a file that is read (default 1MiB)")
	flags.Var(&r.maxBytes, "max-bytes", "most `bytes` of all files together (default 2GiB)")
	flags.IntVar(&r.maxDepth, "max-depth", 0, "most `folders` one below the other (default 32)")
}

func (r *Flags) Check() error {
	switch {
	case r.MaxFiles < 0:
		return errors.New("--max-files must not be negative")
	case r.maxDepth < 0:
		return errors.New("--max-depth must not be negative")
	}
	return nil
}

// SetLimits gives the job, and what is fetched for it, the limits of the flags.
func (r *Flags) SetLimits(in *llmstxt.Input) {
	in.MaxFiles, in.MaxDepth = r.MaxFiles, r.maxDepth
	in.MaxFileBytes, in.MaxBytes = int64(r.maxFile), int64(r.maxBytes)
	r.Source.Limits = *in
}
