// Package actors is the runtime: it runs jobs as supervised actors and keeps what they say.
//
// A [System] is one node. [System.Start] takes a [Job] and writes its run.queued. The journal lends the run to the node,
// whose runs' supervisor spawns an actor for it; that actor spawns a child actor for each [Task] when its turn comes. A
// task is a plain blocking function: it runs in a goroutine of its own, says things through its [TaskContext], and fails
// by returning an error or by panicking. It may ask people ([TaskContext.Ask]) and start sub-runs ([TaskContext.Start]).
//
// Where to look first: machine.go is a run as a state machine, a pure step from a message to effects, and run_actor.go
// drives it. log.go puts the three parts of a run's log together: the ledger, which says what is true, the board, which
// shows it to readers, and the appender, the only one who appends to the [Journal].
//
// Exactly one terminal: "at most one" is the ledger's finish, "at least one" is supervision. The run's actor reports for
// its tasks, the actor's supervisor for the run's actor, and a System that claims a run for the node that left it behind.
//
// Readers pull by cursor ([Run.Events], [System.Events], [System.Follow]): a slow one costs the run nothing and is given
// merged deltas. An actor that would rather be told subscribes ([System.Subscribe]). An [Archive] reads a journal beside
// the nodes that write it.
package actors
