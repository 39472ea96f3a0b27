// Package log is the log of one run while a node runs it. It numbers the run's events, judges whether each is legal,
// shows them to readers, and keeps them in the journal. It knows events and a journal, but neither jobs nor actors.
//
// A [Log] joins three parts:
//
//   - [Ledger] stamps events, has them judged, and keeps their sum (ledger.go).
//   - The view shows readers what is visible (view.go). A reader pulls by cursor: [Log.Enter], then [Log.Read] whenever
//     its [Wake] says so. compact.go merges what a slow reader would otherwise read piece by piece.
//   - The entry writes the log's blocks to the journal, one at a time (entry.go). All entries of a node share its
//     [Appender], which knows how the journal is doing.
//
// [Log.Record] and [Log.With] add events. [Log.WhenDurable] says when the journal has them. [Log.Finish] writes the
// terminal, unless there is one.
package log
