// Package journal is where the events of runs are kept: [Journal] is what a store offers to the nodes that write, and
// [Reader] what it offers to everybody. [Memory] is one; packages transport/sqlite and transport/nats have durable ones,
// and testkit.TestJournal checks any. An [Archive] reads a journal beside the nodes that write to it.
//
// A log is a list of blocks. Each is appended right after a known [Head], whole or not at all, so the log alone decides
// which node owns its run.
package journal
