// Package http serves the native HTTP API, with which clients start, follow, answer and cancel runs, and read their
// artifacts.
//
// [New] returns a [Server], an http.Handler for the paths below /v1 and for /openapi.json, which describes them. Put it
// behind an auth.Middleware, which authenticates callers. Every response is computed from the run's log; the server
// keeps no state but open connections.
//
// The events of a run come from /v1/runs/{id}/events as server-sent events, as JSON lines or as a long poll, whichever
// the Accept field asks for. /v1/ws sends the events of many runs on one WebSocket. All four carry the same JSON, the
// wire form of messages.Event. All continue after a cursor: the number of the last event that the client has.
//
// Errors are problem details (RFC 9457) with a code of package messages; docs/errors.md explains each.
package http
