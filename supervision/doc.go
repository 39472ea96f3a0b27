// Package supervision says what to do when a worker fails, so that nothing is lost.
//
// It stands between the runtime and the actor library, and closes the library's holes:
//
//   - Every actor made by [Node.Props] is guarded: a panic reaches its parent as a [*Crash] with the stack, so does
//     runtime.Goexit, and a failing clean-up cannot wedge the tree.
//   - The node's dispatcher keeps goroutines warm, and goes on with a mailbox whose goroutine was ended by Goexit.
//   - [Children] keeps one actor's children by [ChildSpec]. Each end is told exactly once as an [Exit], behind
//     everything the child sent before it. A child that does not stop in time is abandoned and counted: Go has no kill.
//   - [Task] is blocking work in goroutines of its own, with credits that bound the mailbox it writes to. A panic in
//     any of its goroutines is the task's error, not the end of the process.
//   - [NewSupervisor] stands above the few static children of a node, one for one: intensity, ordered start and stop,
//     escalation. A restart is always a stop and a new actor with an empty mailbox. Runs and tasks have no supervisor:
//     their parents keep Children, and [Policy] decides.
//   - [Policy] decides what follows a failed attempt. It is a pure function.
//
// Nothing here is global and nothing here logs: what the actors of one runtime share is a [Node].
package supervision
