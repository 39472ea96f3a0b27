package auth

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Require returns an error (forbidden) that names the scope, if the caller in ctx lacks it.
func Require(ctx context.Context, s Scope) error {
	if From(ctx).May(s) {
		return nil
	}
	return messages.Errorf(CodeForbidden, "your token lacks the scope %s; ask for one that has it", s)
}

// Challenge returns the WWW-Authenticate field for a response with status 403 to a caller that lacks the scope. ctx is
// the context of a request behind [Middleware.Wrap].
func Challenge(ctx context.Context, s Scope) string {
	params := []string{`error="insufficient_scope"`, `scope="` + string(s) + `"`}
	if p, ok := ctx.Value(grantKey{}).(*grant); ok {
		return p.checks.challenge(p.request, params...)
	}
	return new(Middleware).challenge(nil, params...)
}

// challenge returns a WWW-Authenticate field (RFC 6750), with the metadata URL of RFC 9728 if there is one.
func (m *Middleware) challenge(r *http.Request, params ...string) string {
	first := `realm="lastword"`
	if m.metadata != "" {
		first = `resource_metadata="` + absolute(r, m.metadata) + `"`
	}
	return "Bearer " + strings.Join(append([]string{first}, params...), ", ")
}

// unauthenticated answers a request without a valid token. The challenge names the scopes that the client should ask
// for.
func (m *Middleware) unauthenticated(w http.ResponseWriter, r *http.Request, err *messages.Error, params ...string) {
	params = append(params, `scope="`+string(ReadRuns)+" "+string(WriteRuns)+`"`)
	w.Header().Set("WWW-Authenticate", m.challenge(r, params...))
	m.refuse(w, err)
}

// tooMany answers that a limit is exceeded; what names the limit.
func (m *Middleware) tooMany(w http.ResponseWriter, wait time.Duration, what string) {
	m.refuse(w, RetryAfter(wait, exceeded("%s; try again in %d s", what, seconds(wait))))
}
