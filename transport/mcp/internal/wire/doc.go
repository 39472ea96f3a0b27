// Package wire carries JSON-RPC between MCP clients and an mcp-go server, over stdio and over streamable HTTP. One
// endpoint serves protocol versions with sessions (up to 2025-11-25) and without (from 2026-07-28).
//
// mcp-go interprets the messages. This package replaces its transports, which drop notifications when a channel is
// full, send them to another stream of the session, or send them after the result. Here a request is an [Exchange]. Its
// notifications go to its own stream, in order and before its result. Writing blocks while the client reads too slowly.
// A request that its client has cancelled gets no answer.
//
// If a handler panics, the client gets an internal error without details, and the log gets the stack. The mcp-go server
// must not recover panics itself: it would send the details to the client.
package wire
