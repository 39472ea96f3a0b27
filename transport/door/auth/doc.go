// Package auth checks HTTP requests before a door handles them: it authenticates the caller by bearer token, checks the
// Host and Origin fields, and limits body size and request rate.
//
// [New] makes a [Middleware] from a [Config]. [Middleware.Wrap] puts a door behind it; [Middleware.Public] is for
// handlers that need no token. A door learns the caller with [From], checks a scope with [Require], and answers errors
// with [Refuse]. The context of a request ends with [ErrRevoked] when its token is revoked. A long stream ends when
// [Draining] is closed.
//
// Errors are answered as problem details (RFC 9457). One table holds their codes; docs/errors.md is generated from it.
package auth
