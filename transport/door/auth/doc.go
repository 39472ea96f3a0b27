// Package auth checks HTTP requests before a door handles them: bearer tokens of principals, Host and Origin, the
// size of the body and the rate of requests.
//
// [New] makes a [Middleware] from a [Config]. [Middleware.Wrap] puts a door behind it; [Middleware.Public] is for
// handlers that need no token. A door asks [From] who calls and [Require] for a scope, and refuses with [Refuse]. A
// request's context ends with [ErrRevoked] when its token is revoked, and a long stream when [Draining] is closed.
//
// Refusals are problem details (RFC 9457). One table has their codes, which docs/errors.md explains.
package auth
