// Package webhook delivers events of runs to receivers that an operator's file names, as work in the journal.
//
// A delivery is a run of the job "webhook", owned by a principal that no caller can be: its input names the target, the run
// and the cursor where it begins. It keeps what it is about to send as a step, sends one event after the other, each a step
// of its own, and fails its attempt where the receiver does not take one: the task's policy tries again later, on whatever
// node, and what has been sent is not sent again. It ends when it has sent all that the log of the run holds. The next event
// starts the next delivery, whose key is the cursor where the one before has ended: so a run's events go out in their order,
// and every node finds the same delivery.
//
// [Hooks.Observe] hears of events at once, and [Hooks.Run] looks through the journal for what nobody heard of: events of
// a node that died, and of the time in which none ran. A mark per target says from when on it looks.
package webhook
