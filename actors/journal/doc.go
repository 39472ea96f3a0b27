// Package journal defines the stores that keep the events of runs. [Journal] is the contract for nodes that write,
// and [Reader] the part of it for everybody else. [Memory] is an implementation; packages transport/sqlite and
// transport/nats have durable ones, and testkit.TestJournal checks any. An [Archive] reads a journal beside the nodes
// that write to it.
//
// A log is a list of blocks. Each is appended right after a known [Head], whole or not at all, so the log alone
// decides which node owns its run.
//
// [WriteProof] exports and signs the log of a run, and [ReadProof] checks it anywhere. A proof consists of lines of
// JSON. The first line names the form and the run. Each block of the log has a line with the chain's hash before it and
// its digest; the block's events follow that line as they are kept. The last line has the log's position, and signs
// every byte before it (Ed25519).
//
// [Leases] and [Notes] implement claims and notes for journals whose nodes are all in one process. [Hostile] makes
// appends fail in every possible way, for tests and for fault points.
package journal
