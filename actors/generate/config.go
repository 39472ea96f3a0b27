package generate

import (
	"context"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages/redact"
)

// Config has what the job needs beside its input, and what only an operator may say.
type Config struct {
	Open Open
	// RemoteOnly: repositories on this machine are refused, and not even looked for.
	RemoteOnly bool
	// Limits bound what is read of a repository.
	Limits scan.Limits
	// Folder returns the folder that the runs of a principal write below, at Input.Out; nil takes Input.Out as it is.
	Folder func(principal, out string) (string, error)
	// File is the name of llms.txt in the folder. If it is set, no other file is written.
	File string
	// Model finds the model of an Input that names one; without it there is none. DefaultModel is what AutoModel means.
	Model        FindModel
	DefaultModel string
	// Cache is the folder of earlier results; none are kept if empty, or if the input says so.
	Cache string
	// Secrets are removed from every file. It may be nil.
	Secrets *redact.Secrets
	// Spend is called with a number of bytes before they are written, and its error ends the run; nil allows all.
	Spend func(ctx context.Context, principal string, bytes int) error
	// Version is the version of the program. Cached results of other versions are not used.
	Version string
}

// Open finds the repository at the address, but does not read it yet. Errors: invalid_input if it does not exist or
// is not allowed; network errors may be retried.
type Open func(ctx context.Context, at address.Address) (*Material, error)

// Material is a repository to read.
type Material struct {
	Name   string // used if Origin is empty
	Origin scan.Origin
	// Key identifies the content of the files before they are read, as a commit does. Results without a key are not
	// cached.
	Key string
	// Warning says what is unknown or missing. It is usually empty. Read may set it again.
	Warning string
	// Read returns the files. It calls progress with the bytes received; total is 0 if it is not known.
	Read func(ctx context.Context, progress func(done, total int64)) (fs.FS, error)
}
