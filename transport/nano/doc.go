// Package nano serves runs to clients of NANO, over JSON-RPC 2.0. Its method run streams a text as numbered chunks.
//
// A client calls run with stream: true and gets a stream_id of 16 characters. Over HTTP it polls with the stream_id and
// from_seq, and gets {chunks, has_more}. Over a WebSocket the server pushes the chunks. A chunk is {stream_id, seq,
// delta, end}. Numbers begin at 0, the last chunk has end: true, and it has an error if the run did not complete.
// Without stream the result contains the whole text. initialize announces the capability streaming.
//
// If the run asks something, its stream ends with the question. The next prompt in the same context answers it.
//
// params.prompt runs the job prompt, or with params.context the job chat in that conversation. params.job runs another
// job with params.input. Three things go beyond NANO: a poll may wait (wait_ms); a WebSocket may continue a stream
// (from_seq); and a poll may be repeated, with the same chunks, until the stream expires 5 minutes after its last use.
//
// A published chunk never changes, because clients can only append. If text that a client may have is taken back, the
// stream ends with the error reset, unless the next attempt repeats the text. The run continues, and /v1/runs has its
// result. NANO has no better way: its own clients stop at a chunk with an error as at any last chunk. Thoughts are not
// sent.
//
// With a store, another process continues a stream: a row tells which chunks were served, and a poll writes it before it
// answers.
package nano
