// Package erlmcp serves runs to clients of erlmcp, as tools whose answers are streamed in chunks over JSON-RPC 2.0.
//
// Every job is a tool. tools/call has three modes. By default it waits for the run and returns its text. With stream:
// true, or {chunkDelayMs}, it returns {streamId, _meta} at once, and notifications follow: stream_chunk {streamId,
// chunk_num, total, data}, numbered from 1, and finally one of stream_complete, stream_error and stream_cancelled. With
// task: {timeout} it returns a task for tasks/get, tasks/result and tasks/cancel. If both are given, stream wins.
//
// A stream is a run, and the streamId is the run's id. Any number of callers can use stream/subscribe at any time; each
// gets all chunks from the first. stream/cancel cancels the run. A slow reader gets several chunks merged into one; it
// misses nothing and delays nobody. chunkDelayMs is the minimum time between two chunks. A question is sent as
// stream_input and answered by stream/answer. A call without a stream returns the question, and names the request in
// _meta.
//
// The chunks are pieces of the run's answer. A run without an answer sends the elements of its result if that is a list
// or {"chunks": list}, or else the result. Clients can only append: if text is taken back, the stream ends with
// stream_error, unless the next attempt repeats the text.
//
// Streams are sent in the response to a POST, one after the other, as server-sent events or JSON lines, whichever the
// Accept field asks for; or over a WebSocket at the same path, all at once.
package erlmcp
