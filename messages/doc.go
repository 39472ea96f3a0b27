// Package messages says what can be said about a run, and what it adds up to.
//
// A run is told as one ordered log of [Event] values. Every event has a number (Seq), a time, and a typed [Body] of
// one of the kinds in the table of [Kinds]; the set is closed, and a kind that a newer version added is carried as
// [Unknown] without loss. The last event of a run is its terminal: run.completed, run.failed or run.canceled.
//
// What a log adds up to is a [State], and [State.Apply] is the only judge of what may follow what: it takes the next
// event and returns the next state, or a [*Refusal] that names the broken [Rule]. The same log gives the same State
// however its deltas were merged on the way ([Merge]) and from whatever cursor it was read. A loop over
// a log uses a [Fold], which says the same, and grows its State in place.
//
// The law that every reader may rely on, for consecutive events a and b of one run, live or replayed, merged or not:
//
//	b.From <= a.Seq+1  and  b.Seq > a.Seq
//
// A reader drops events whose Seq is not past its cursor; text is put together as text[:offset] + delta, so that an
// event which repeats a part of what was seen changes nothing. [Filter] selects from a log without breaking this.
//
// The wire form is JSON ([Event.MarshalJSON]), described by the JSON Schema that [Schema] returns, version
// [WireVersion]. The package imports the standard library only.
package messages
