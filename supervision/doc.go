// Package supervision starts, watches and ends actors and their blocking work, so that no failure is lost.
//
// protoactor-go runs the actors: mailboxes, addresses, children and the messages about their lives. Its own restarts,
// stack traces and dispatchers lose what a run needs, so this package adds what it lacks:
//
//   - [Node.Props] guards an actor: a panic or a runtime.Goexit reaches its parent as a [*Crash] with the stack, and
//     a failing clean-up cannot block the tree.
//   - The node's dispatcher keeps goroutines whose stacks have grown, and resumes a mailbox after a Goexit.
//   - [Children] manages the children of one actor. Each child has exactly one [Exit], after everything that it sent.
//     A child that does not stop in time is abandoned and counted, because Go cannot kill a goroutine.
//   - [Routine] is blocking work in its own goroutines. Credits bound the mailbox that it writes to. A panic in
//     any of its goroutines is the task's error, and does not end the process.
//   - [NewSupervisor] supervises the few static children of a node: a limit for restarts, ordered start and stop, and
//     escalation. A restart is always a stop and a new actor with an empty mailbox.
//   - [Policy] decides what follows a failed attempt of a task, as a pure function.
//
// The package has no globals and logs nothing: a [Node] is what the actors of one runtime share.
package supervision
