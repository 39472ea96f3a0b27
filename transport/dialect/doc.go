// Package dialect is the room of the doors that speak another system's format, and what they share.
//
// Each dialect is a folder of this one: a table of functions for view.Dialect, the routes of the other system, and
// nothing kept for a client but what its protocol demands. A [Door] starts, reads, answers and cancels runs for the
// caller that the gate has found. A [Stream] writes to one HTTP client, with heartbeats and write timeouts; a
// [Socket] is a WebSocket. [Play] writes a run to either, and with its sub-runs in one order for every reader, in which
// [Places] says where an event stands. [Answer] answers calls of JSON-RPC.
//
// A dialect always writes its terminal, or breaks the connection: [Stream.Break] and [Socket.Break] do, where the run
// cannot be read to its end.
package dialect
