// Package messages defines the events of a run, the State that they add up to, and the errors of the project. It
// imports the standard library only.
//
// The log of a run is an ordered list of [Event] values. Every event has a number (Seq), a time, and a typed [Body]
// of one of the [Kinds]. The set of kinds is closed; an event of a kind that a newer version added is carried as
// [Unknown], unchanged. The last event of a run is its terminal: run.completed, run.failed or run.canceled.
//
// A log adds up to a [State]. [State.Apply] alone decides which event is legal next: it takes an event and returns
// the next State, or a [*Refusal] that names the broken [Rule]. The State does not depend on how deltas were merged
// ([Merge]), nor on the cursor from which the log was read. A loop over a log uses a [Fold], which gives the same
// State and grows it in place.
//
// Every reader may rely on this law, for consecutive events a and b of one run, live or replayed, merged or not:
//
//	b.From <= a.Seq+1  and  b.Seq > a.Seq
//
// A reader drops events whose Seq is not past its cursor. It builds a text as text[:offset] + delta, so an event that
// repeats a part of it changes nothing. A [Filter] selects events without breaking this.
//
// The wire form is JSON ([Event.MarshalJSON]), of version [WireVersion]. [Schema] returns its JSON Schema.
package messages
