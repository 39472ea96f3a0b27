// Package mcp serves runs to agents over the Model Context Protocol, on stdio and streamable HTTP. It supports clients
// up to version 2025-11-25, and clients of 2026-07-28.
//
// [New] returns a [Server] for a runtime. [Server.AddJob] offers a job as a tool. [Server.Serve] serves one client over
// stdio, [Server.ServeHTTP] many over HTTP. The tool of a job can be called in three ways:
//
//   - Synchronously: the result, a [RunResult], comes when the run has ended.
//   - Streamed, if the call has a progress token: each event of the run is a notifications/progress, with the event's
//     seq as progress, its sentence as message and the complete event in _meta. The terminal event comes with the
//     result.
//   - As a task, if the client supports tasks: the run is in the journal before the reply, and its id is the task's id.
//
// A client without tasks can start, read, await and cancel runs with the tools run_*. Questions of a run are put to the
// client's user if the client can ask; otherwise the tool run_answer answers them. The files of a run are resources,
// which [Config.Open] reads.
//
// [AddTool], [Server.AddResource] and [Server.AddPrompt] add more than jobs. Their handlers use [Server.Start],
// [Server.AddStream], [Server.Result] and other methods that act for the caller in the context.
//
// A run belongs to its principal; for all others it does not exist. Package auth puts the caller into the context.
// Package wire carries the messages.
package mcp
