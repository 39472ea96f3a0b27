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

// The codes of refusals that only a door over HTTP makes.
const (
	// CodeUnauthorized: a token is needed, or the one sent is not good.
	CodeUnauthorized messages.Code = "unauthorized"
	// CodeForbidden: the token lacks a scope, or the request comes by a Host or from an Origin that is not allowed.
	CodeForbidden messages.Code = "forbidden"
)

// Require returns an error (forbidden) that names the scope if whoever calls in the context does not have it.
func Require(ctx context.Context, s Scope) error {
	if From(ctx).May(s) {
		return nil
	}
	return lacking(s)
}

// Forbid answers a caller behind [Gate.Wrap] that lacks the scope: 403, insufficient_scope.
func Forbid(w http.ResponseWriter, r *http.Request, s Scope) {
	g := new(Gate)
	if p, ok := r.Context().Value(passKey{}).(*pass); ok {
		g = p.gate
	}
	g.challenge(w, r, `error="insufficient_scope"`, `scope="`+string(s)+`"`)
	Refuse(w, http.StatusForbidden, lacking(s))
}

// Refuse answers with the error as {"error":{"code":"…","message":"…"}}, which nobody may cache.
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

// challenge says how to call with success (RFC 6750, and RFC 9728 where there is metadata).
func (g *Gate) challenge(w http.ResponseWriter, r *http.Request, params ...string) {
	said := []string{`realm="lastword"`}
	if g.metadata != "" {
		said = []string{`resource_metadata="` + absolute(r, g.metadata) + `"`}
	}
	w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(append(said, params...), ", "))
}

func tooMany(w http.ResponseWriter, wait time.Duration, what string) {
	seconds := int((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	err := exceeded("%s; try again in %d s", what, seconds)
	err.Retryable = true
	Refuse(w, http.StatusTooManyRequests, err)
}

func lacking(s Scope) *messages.Error {
	return forbidden("the token has not the scope %s; ask for one that has it", s)
}

func forbidden(format string, args ...any) *messages.Error {
	return messages.Errorf(CodeForbidden, format, args...)
}

func unauthorized(format string, args ...any) *messages.Error {
	return messages.Errorf(CodeUnauthorized, format, args...)
}
