package gate

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Codes of refusals that only HTTP has.
const (
	// CodeUnauthorized means that the token is missing or not valid.
	CodeUnauthorized messages.Code = "unauthorized"
	// CodeForbidden means that the token lacks a scope, or that the Host or the Origin is not allowed.
	CodeForbidden messages.Code = "forbidden"
)

// Require returns an error (forbidden) that names the scope if the context's caller lacks it.
func Require(ctx context.Context, s Scope) error {
	if From(ctx).May(s) {
		return nil
	}
	return forbidden("your token lacks the scope %s; ask for one that has it", s)
}

// Challenge returns the WWW-Authenticate field for an answer of status 403 to a caller behind [Gate.Wrap] that lacks
// the scope. ctx is the request's.
func Challenge(ctx context.Context, s Scope) string {
	params := []string{`error="insufficient_scope"`, `scope="` + string(s) + `"`}
	if p, ok := ctx.Value(grantKey{}).(*grant); ok {
		return p.gate.challenge(p.request, params...)
	}
	return new(Gate).challenge(nil, params...)
}

// Refuse answers with the error as {"error":{"code":"…","message":"…"}}, not to be cached.
func Refuse(w http.ResponseWriter, status int, err *messages.Error) {
	body, _ := json.Marshal(struct { // no error: strings and a bool
		Error *messages.Error `json:"error"`
	}{&messages.Error{Code: err.Code, Message: err.Message, Retryable: err.Retryable}})
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// challenge returns a WWW-Authenticate field (RFC 6750, and RFC 9728 if there is metadata).
func (g *Gate) challenge(r *http.Request, params ...string) string {
	first := `realm="lastword"`
	if g.metadata != "" {
		first = `resource_metadata="` + absolute(r, g.metadata) + `"`
	}
	return "Bearer " + strings.Join(append([]string{first}, params...), ", ")
}

// unauthenticated answers a request without a valid token. The challenge names the scopes to ask for.
func (g *Gate) unauthenticated(w http.ResponseWriter, r *http.Request, err *messages.Error, params ...string) {
	params = append(params, `scope="`+string(ReadRuns)+" "+string(WriteRuns)+`"`)
	w.Header().Set("WWW-Authenticate", g.challenge(r, params...))
	Refuse(w, http.StatusUnauthorized, err)
}

func tooMany(w http.ResponseWriter, wait time.Duration, what string) {
	seconds := int((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	err := exceeded("%s; try again in %d s", what, seconds)
	err.Retryable = true
	Refuse(w, http.StatusTooManyRequests, err)
}

func forbidden(format string, args ...any) *messages.Error {
	return messages.Errorf(CodeForbidden, format, args...)
}

func unauthorized(format string, args ...any) *messages.Error {
	return messages.Errorf(CodeUnauthorized, format, args...)
}
