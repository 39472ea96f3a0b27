// Package http is the native HTTP API: start, watch, answer and cancel runs, and read their artifacts.
//
// [New] makes a [Server], an http.Handler for the paths below /v1 and for /openapi.json, which describes them. Put it
// behind an auth.Middleware, which says who calls. Every answer is a view of the run's log; the server keeps nothing but
// open connections.
//
// A run's events come from /v1/runs/{id}/events as server-sent events, as JSON lines or as a long poll, as the Accept
// field asks, and from /v1/ws for many runs on one connection. All four carry the same JSON, messages.Event's wire form,
// and go on after a cursor: the number of the last event that the client has seen.
//
// Failures are problem details (RFC 9457) with a code of package messages; docs/errors.md explains each.
package http
