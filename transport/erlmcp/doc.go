// Package erlmcp is a door for clients of erlmcp: tools whose answers come as a stream of chunks over JSON-RPC 2.0.
//
// Every job is a tool. tools/call has three modes. Without more it waits for the run and answers with its text. With
// stream: true, or {chunkDelayMs}, it answers at once with {streamId, _meta}, and notifications follow: stream_chunk
// {streamId, chunk_num, total, data}, numbered from 1, and then exactly one of stream_complete, stream_error and
// stream_cancelled. With task: {timeout} it answers with a task, which tasks/get, tasks/result and tasks/cancel know.
// If both are given, stream wins.
//
// A stream is a run, and its streamId the run's id: any number of callers subscribe to it with stream/subscribe, at
// any time, each from its first chunk, and stream/cancel ends it. A caller that reads slowly gets several chunks as
// one; none is lost, and it delays nobody. chunkDelayMs is the least time between two chunks. A run that asks people
// something says stream_input, and stream/answer answers; a call without a stream answers with the question then, and
// names the request in _meta.
//
// The chunks are the pieces of the run's answer. A run without one gives the elements of its result if that is a
// list, or {"chunks": list}, and else the result. Clients can only append: if text is taken back, the stream ends
// with stream_error, unless the next attempt says the same again.
//
// Streams come on the answer to a POST, as server-sent events or JSON lines as Accept asks, one after the other if
// there are several; or over a WebSocket at the same path, all at once.
package erlmcp
