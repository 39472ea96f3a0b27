// Package gate is the edge that every door over HTTP stands behind: who calls (bearer tokens bound to principals), from
// where (Host and Origin), how much (bytes of a body, requests a second), how long (timeouts), and how it ends (drain).
//
// [New] makes a [Gate] from a [Config]; [Gate.Wrap] puts a door behind it and [Gate.Public] what asks for no token. A
// door learns who calls by [From], asks for a scope by [Require] and refuses by [Forbid] or [Refuse]. [Serve] serves a
// listener with bounds on time and connections and drains it; a long stream ends itself when [Draining] says so, or when
// its token is not [Valid] any more.
//
// What the gate refuses is answered with {"error":{"code":"…","message":"…"}}. The codes are those of package
// messages, and [CodeUnauthorized] and [CodeForbidden].
package gate
