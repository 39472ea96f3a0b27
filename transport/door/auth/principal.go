package auth

import (
	"context"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// Scope is a permission of a token.
type Scope string

// The scopes. Admin includes the others.
const (
	ReadRuns  Scope = "run:read"
	WriteRuns Scope = "run:write"
	Admin     Scope = "admin"
)

// Principal is a caller. The zero Principal is a caller without a token, on a server that needs none; it has every
// scope.
type Principal struct {
	// Name is the owner of the caller's runs; "" if the server needs no token.
	Name   string
	Scopes []Scope
}

// May reports whether the principal has the scope.
func (p Principal) May(s Scope) bool {
	return p.Name == "" || slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin)
}

// Same reports whether o has the same name and scopes.
func (p Principal) Same(o Principal) bool {
	return p.Name == o.Name && p.May(ReadRuns) == o.May(ReadRuns) && p.May(WriteRuns) == o.May(WriteRuns) && p.May(Admin) == o.May(Admin)
}

// reader returns the principal without all scopes but that to read.
func (p Principal) reader() Principal {
	may := p.May(ReadRuns)
	if p.Scopes = nil; may {
		p.Scopes = []Scope{ReadRuns}
	}
	return p
}

type principalKey struct{}

// With returns a context whose caller is p.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the caller in ctx, or the zero Principal.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// Own returns an error (not_found) unless the caller in ctx owns the run. To other callers the run does not exist.
func Own(ctx context.Context, run messages.State) error {
	if run.Queued == nil || run.Queued.Principal != From(ctx).Name {
		return messages.Errorf(messages.CodeNotFound, "there is no run %s", run.RunID)
	}
	return nil
}

type drainKey struct{}

// WithDrain returns a context for the requests of a server. The server closes the channel when it begins to stop.
func WithDrain(ctx context.Context, draining <-chan struct{}) context.Context {
	return context.WithValue(ctx, drainKey{}, draining)
}

// Draining returns a channel that is closed when the request's server begins to stop, so that endless streams can end.
// It is nil if the server has none.
func Draining(ctx context.Context) <-chan struct{} {
	ch, _ := ctx.Value(drainKey{}).(<-chan struct{})
	return ch
}
