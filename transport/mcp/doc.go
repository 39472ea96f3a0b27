// Package mcp is the door for agents: runs as MCP tools, over stdio and streamable HTTP, for clients up to 2025-11-25
// and of 2026-07-28 alike.
//
// [New] makes the door to a runtime, [Server.AddJob] makes a job a tool, and [Server.Serve] serves a client over
// stdio, [Server.ServeHTTP] many over HTTP. A job's tool can be called in three ways:
//
//   - Synchronously: the result, a [RunResult], comes when the run has ended.
//   - Streamed, where the call has a progress token: every event of the run is a notifications/progress with the
//     event's seq as progress, its sentence as message and the event whole under _meta; the last event comes
//     with the result, and nothing follows it.
//   - As a task, if the client knows tasks: the run is in the journal before the reply, and has the id of the task.
//
// A client without tasks starts, reads, awaits and cancels any run by the tools run_*. What a run asks is put to the
// client's user where the client can, and is else answered by run_answer. What a run wrote is a resource, which
// [Config.Open] reads.
//
// Beside jobs there are [AddTool], [Server.AddResource] and [Server.AddPrompt]; their handlers use [Server.Start],
// [Server.AddStream], [Server.Result] and the like for runs of whoever calls.
//
// A run is its principal's alone: for everybody else it does not exist. Who calls is what package auth says of the
// context. Package wire carries the messages.
package mcp
