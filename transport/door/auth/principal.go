package auth

import (
	"context"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// Scope is a permission of a token.
type Scope string

// The scopes. Admin includes the others. WriteRuns answers all questions but confirmations, which need AnswerRuns, and
// starts all jobs but coding agents, which need AgentRuns too.
const (
	ReadRuns   Scope = "run:read"
	WriteRuns  Scope = "run:write"
	AnswerRuns Scope = "run:answer"
	AgentRuns  Scope = "run:agent"
	Admin      Scope = "admin"
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{ReadRuns, WriteRuns, AnswerRuns, AgentRuns, Admin} }

// Principal is a caller. The zero Principal is a caller without a token, on a server that needs none; it has every
// scope.
type Principal struct {
	// Name is the owner of the caller's runs; "" if the server needs no token.
	Name   string
	Scopes []Scope
	// Inside is the run inside which the caller works; nil for all others.
	Inside *Inside
}

// May reports whether the principal has the scope.
func (p Principal) May(s Scope) bool {
	return p.Name == "" && p.Inside == nil || slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin)
}

// Same reports whether o has the same name and scopes.
func (p Principal) Same(o Principal) bool {
	differs := func(s Scope) bool { return p.May(s) != o.May(s) }
	return p.Name == o.Name && !slices.ContainsFunc(Scopes(), differs)
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
	if p := From(ctx); run.Queued == nil || run.Queued.Principal != p.Name || !p.Inside.Has(run.RunID) {
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
