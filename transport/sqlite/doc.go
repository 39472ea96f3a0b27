// Package sqlite stores the journal of one node in a directory. [Open] opens it for writing, as its owner. [OpenReader]
// reads it, beside a live server or after that has stopped.
//
// The file journal.db is an SQLite database in WAL mode with synchronous=FULL: acknowledged blocks survive kill -9 and
// a power cut. A single goroutine writes. It commits all waiting blocks together, so that they share the cost of a
// sync. Triggers and unique indexes of the schema enforce the rules of a log once more: a block begins right after the
// last one, there is one terminal, nothing follows it, and a process that has lost the directory cannot write.
// [Journal.List] reads a table with one row per run, which each append updates.
//
// Two more goroutines work in the background: one copies the write-ahead log to the database, the other merges the
// deltas of ended runs. Merging and the retention share the writer with appends, by time. The file shrinks by
// incremental vacuum. A database with an older schema is rewritten for that once, when it is opened, which takes about
// a second per 100 MB.
//
// Each block carries its digest and the chain up to it ([journal.StoredBlock]). The other columns can be derived from
// the events; [Check] compares them.
//
// The owner holds a lock on the file "lock", which tells others who the owner is. The file is never removed. All nodes
// of a journal live in one process, so leases and notes are kept in memory.
package sqlite
