// Package nano is a door for clients of NANO: JSON-RPC 2.0 whose method run streams a text as numbered chunks.
//
// A client calls run with stream: true and gets a stream_id of 16 characters. Over HTTP it polls with the stream_id
// and from_seq, and gets {chunks, has_more}; over a WebSocket the chunks are pushed. A chunk is {stream_id, seq,
// delta, end}; numbers begin at 0, the last chunk has end: true, and an error where the run did not complete. Without
// stream the result holds the whole text. initialize tells of the capability streaming.
//
// A run that asks something ends its stream with the question, and the next prompt of the same context answers it.
//
// params.prompt runs the job prompt, with params.context the job chat in that conversation; params.job runs another
// with params.input. Three things go beyond NANO: a poll may wait (wait_ms), a WebSocket may go on with a stream
// (from_seq), and a poll may be repeated, with the same chunks, until the stream expires 5 minutes after its last
// use.
//
// A chunk never changes once it is there. Clients can only append: if text that a client may have is taken back, the
// stream ends with the error reset, unless the next attempt says the same again; the run goes on, and its result is at
// /v1/runs. NANO has no other end for this: the code of its own clients stops at a chunk with an error as at any last
// one. Thoughts are not sent.
package nano
