// Package transcript turns the event log of a run into items and operations on them, for doors that write a run in the
// format of another system.
//
// A [Transcript] folds the events of one run. An [Item] is something that clients show: a text, a thought, a tool call,
// an artifact, a question, a child run, a step, the progress of a task, or the run itself. Each event becomes
// operations on items: an item opens, grows, changes or is done; text is taken back; the run waits, continues or ends.
// An [Op] carries the event that caused it. A segment is the part of the log between two waits: many systems answer one
// request with one segment.
//
// A [Dialect] is a table of functions, one for each kind of item and operation, with three hooks: Rewind writes that
// something was taken back, Heartbeat keeps an idle connection open, and Refuse writes why no more events follow. Its
// [Policy] says what happens after Rewind. A [Player] writes a run to one reader in a dialect.
//
// Nothing in this package blocks or does I/O: every result is a function of the log. When the run ends, or when another
// attempt of a task begins, items that are still open are first marked as done, with Cut set. A dialect must always
// write its terminal message or break the connection, because most clients take an end without one for success.
package transcript
