// Package transcript turns a run's log into items and operations on them, for doors that speak another system's format.
//
// A [Transcript] folds the events of one run. An [Item] is something that readers show: a text, a thought, a tool
// call, an artifact, a question, a child, a step, the progress of a task, or the run itself. Each event becomes
// operations on items: an item opens, grows, changes, is done; text is taken back; the run waits, goes on, ends. An
// [Op] has the number of its event and its own number within the event. A segment is the log between two waits: many
// systems answer one request with one segment.
//
// A [Dialect] is a table of functions, one for each kind of item and operation, and three hooks: Rewind writes that
// something was taken back, Heartbeat keeps an idle connection open, and Refuse says why there is nothing more. Its
// [Policy] says what happens after Rewind. A [Player] writes the run of one reader in the dialect.
//
// Nothing here does I/O or waits: all is a function of the log. When the run ends, or another attempt of a task begins,
// the items still open are done first, with Cut set. A dialect always writes its terminal, or breaks the
// connection: most clients take an end without one for success.
package transcript
