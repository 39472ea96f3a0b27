// Package wire carries JSON-RPC between MCP clients and an mcp-go server, over stdio and over streamable HTTP. One
// endpoint serves the protocol versions with sessions (up to 2025-11-25) and without (from 2026-07-28).
//
// mcp-go decides what a message means. This package replaces its transports, which drop notifications when a channel
// is full, write them to another stream of the session, or write them after the result. Here a request is an
// [Exchange]: its notifications go to its own stream, in order, before its result, and block while the client reads
// too slowly. A request that its client cancelled gets no answer.
//
// If a handler panics, the client gets an internal error without details and the log gets the stack. The mcp-go
// server needs no recovery of its own, which would send the details to the client.
package wire
