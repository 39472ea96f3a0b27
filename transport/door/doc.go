// Package door is the one way from protocols to runs: the packages that speak a protocol translate, and do nothing else.
//
// A [Door] starts, reads, answers and cancels runs for the caller that package auth has found. It decides who may do
// what: the runs of others do not exist for a caller. A [Stream] writes to one HTTP client, with heartbeats and write
// timeouts; a [Socket] is a WebSocket. [Answer] answers calls of JSON-RPC.
//
// A protocol is a table of functions for transcript.Dialect, and the routes of the other system. It keeps nothing for a
// client but what the protocol demands. Its writer embeds a [Part], which says where the client's answer begins and ends.
// [Serve] and [Play] write it to a Stream or a Socket. They can write the sub-runs too, in one order for every reader;
// [Places] says where an event stands in that order. [Speech] is for clients that can only append to one text.
//
// A protocol always writes its terminal. Where the run cannot be read to its end, the protocol breaks the connection
// with [Stream.Break] or [Socket.Break].
package door
