// Package sqlite keeps the journal of one node in a directory: [Open] owns it and writes, [OpenReader] reads it beside
// a live server or after it has stopped.
//
// The file journal.db is an SQLite database in WAL mode with synchronous=FULL: what Append has acknowledged survives
// kill -9 and a power cut. One goroutine writes. It commits all blocks that wait together, so that runs share the cost
// of a sync. The schema's triggers and unique indexes hold the log's law a second time: a block begins right after the
// last one, nothing follows a terminal, there is one terminal, and a process that no longer owns the directory writes
// nothing. A row per run, updated with its blocks, answers List. Beside the writer, one goroutine copies the
// write-ahead log to the database, and another merges the deltas of runs that have ended. Merging and the retention have
// their turns at the writer by time, so that both keep up with appends. The file shrinks by incremental vacuum; one of an
// older schema is written anew for that when it is opened, once, which takes about a second for each 100 MB.
//
// Each block carries its digest and the chain before it ([journal.StoredBlock]); what the other columns say follows from
// the events. [Check] compares all of it.
//
// The file lock is locked for as long as the owner lives, and tells others who that is. It is never removed. All nodes
// of a journal are in its process, so that leases and notes between them are in memory.
package sqlite
