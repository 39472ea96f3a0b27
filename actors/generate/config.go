package generate

import (
	"context"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages/redact"
)

// Config holds what the job needs besides its input, and what only an operator may set.
type Config struct {
	Open Open
	// RemoteOnly refuses repositories on this machine, without looking for them.
	RemoteOnly bool
	// Limits bound what is read of a repository.
	Limits scan.Limits
	// Folder returns the folder below which the runs of a principal write, for Input.Out. nil uses Input.Out as it
	// is.
	Folder func(principal, out string) (string, error)
	// File is the file name for llms.txt. If set, no other file is written.
	File string
	// Model finds the model of an Input that names one; nil finds none. DefaultModel is the model for AutoModel.
	Model        FindModel
	DefaultModel string
	// Cache is the folder of earlier results. If it is empty, or if the input says so, nothing is cached.
	Cache string
	// Secrets are removed from every file. It may be nil.
	Secrets *redact.Secrets
	// Spend is called with a number of bytes before they are written. Its error ends the run. nil allows all.
	Spend func(ctx context.Context, principal string, bytes int) error
	// Version is the version of the program. Cached results of other versions are not used.
	Version string
}

// Open finds the repository at the address, but does not read it yet. Errors: invalid_input if it does not exist or
// is not allowed. Network errors may be retried.
type Open func(ctx context.Context, at address.Address) (*Material, error)

// Material is a repository to read.
type Material struct {
	Name   string // used if Origin is empty
	Origin scan.Origin
	// Key identifies the content of the files before they are read, as a commit does. Results without a key are not
	// cached.
	Key string
	// Warning says what is unknown or missing; usually "". Read may set it again.
	Warning string
	// Read returns the files. It calls progress with the number of bytes received; total is 0 if unknown.
	Read func(ctx context.Context, progress func(done, total int64)) (fs.FS, error)
}
