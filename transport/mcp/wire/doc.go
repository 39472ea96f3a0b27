// Package wire carries JSON-RPC between MCP clients and an mcp-go server, over stdio and over streamable HTTP, for the
// protocols with sessions (up to 2025-11-25) and without (2026-07-28) on one endpoint.
//
// mcp-go decides what a message means; what its transports do with notifications (dropped on full channels, written to
// whichever stream of a session wins, behind the result on stdio) is replaced: a request is an [Exchange], its
// notifications are written in the order they were given, on the request's own stream and before its result, with
// back-pressure, and none follows the result. A request that its client cancelled gets no answer.
//
// A handler that panics costs its client an internal error that says nothing, and the log a stack: the mcp-go server
// needs no recovery of its own, whose texts would reach the client.
package wire
