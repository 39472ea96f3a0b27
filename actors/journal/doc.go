// Package journal defines the stores that keep the events of runs. [Journal] is the contract for nodes that write,
// and [Reader] the part of it for everybody else. [Memory] is an implementation; packages transport/sqlite and
// transport/nats have durable ones, and testkit.TestJournal checks any. An [Archive] reads a journal beside the nodes
// that write to it.
//
// A log is a list of blocks. Each is appended right after a known [Head], whole or not at all, so the log alone
// decides which node owns its run.
package journal
