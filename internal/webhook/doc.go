// Package webhook delivers events of runs to receivers that an operator's file names. Deliveries are runs in the
// journal.
//
// A delivery is a run of the job "webhook", whose owner no caller can be. Its input names the target, the run, and
// the cursor where it begins. It keeps the events that it is about to send as a step, and then sends them one by one,
// each in its own step. If the receiver does not accept an event, the attempt fails; the task's policy tries
// again later, on any node, and nothing is sent twice. The delivery ends when it has sent everything in the run's
// log. The next event starts the next delivery, whose key is the cursor where the last one ended. So a run's events
// arrive in order, and every node finds the same delivery.
//
// [Hooks.Observe] gets events at once. [Hooks.Run] searches the journal for events that nobody observed: the events of a
// node that died, and of times when no node ran. A mark per target says from when on it searches.
package webhook
