// Package mcp is the door for agents: runs as MCP tools, over stdio and streamable HTTP, for clients up to 2025-11-25 and
// of 2026-07-28 alike.
//
// A job becomes a tool (Server.AddJob) that can be called in three ways. Synchronously: the result comes when the run has
// ended. Streamed, where the call has a progress token: every event of the run is a notifications/progress with the
// event's seq as progress, its sentence as message and the event whole under _meta; the terminal event is the tool's
// result, and nothing follows it. As a task, where the client knows tasks: the run is in the journal before the reply,
// and is asked for by its id. A client without tasks starts, reads, awaits and cancels any run by the tools run_*.
//
// A run is its principal's alone: for everybody else it does not exist. Package wire carries the messages.
package mcp
