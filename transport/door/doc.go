// Package door lets protocol packages start, read, answer and cancel runs on behalf of an authenticated caller.
//
// A [Door] checks each request against the caller that package auth found: its scopes, and that the run is its own. A
// caller cannot tell the run of another caller from one that does not exist.
//
// Protocol packages only translate. Each consists of HTTP routes and of a table of functions (transcript.Dialect) that
// writes a run in the protocol's format. Its writer embeds a [SegmentWriter], which says where one answer to the client
// begins and ends. [Serve] and [Play] send the part over a [Stream] (HTTP) or a [Socket] (WebSocket), with heartbeats and
// write timeouts. [Fold] collects it for an answer that is not streamed.
//
// Sub-runs can be sent too, in one order that is the same for every reader; [Places] gives the position of an event in
// that order. [Speech] is for clients that can only append to one text.
//
// A client must never take a lost connection for the end of a run. So a protocol either writes its terminal message or
// breaks the connection with [Stream.Break] or [Socket.Break].
package door
