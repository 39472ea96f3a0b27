package llmstxt

import (
	"context"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/llmstxt/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
	"github.com/seed889630bf/lastword/messages/redact"
)

// Config is what the job needs of the world.
type Config struct {
	Open Open
	// Model finds the model of an Input that names one; it may be nil otherwise.
	Model FindModel
	// Cache is the folder of earlier results; none are kept if empty.
	Cache string
	// Secrets are what no file says, whatever the repository does; nil for none.
	Secrets *redact.Secrets
	// Spend is called with a number of bytes before they are written, and its error ends the run; nil allows all.
	Spend func(bytes int) error
	// Version is that of the program. Results of another version are not taken from the cache.
	Version string
}

// Open finds the repository at the address, without reading it yet. Errors: invalid_input for one that is not there
// or not allowed; errors of the network may be retried.
type Open func(ctx context.Context, at address.Address) (*Material, error)

// Material is a repository to read.
type Material struct {
	Name   string // for want of an Origin
	Origin scan.Origin
	// Key names what the files hold where that is known before they are read, as a commit does: the same key, the
	// same files. Results without one are not cached.
	Key string
	// Warning says what is not known of the material, or not in it; empty as a rule. Read may set it, once more.
	Warning string
	// Read gives the files. progress hears of the bytes that have come; total is 0 where it is not known.
	Read func(ctx context.Context, progress func(done, total int64)) (fs.FS, error)
}
