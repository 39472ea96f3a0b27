// Package actors runs jobs as supervised actors and lets many readers follow each run.
//
//	go get github.com/seed889630bf/lastword
//	import "github.com/seed889630bf/lastword/actors"
//
// A [System] is one node; the example below embeds one. [System.Start] runs a [Job], a list of tasks, and [Func] makes a
// job of one plain function. A [Task] is a blocking function in a goroutine of its own: it speaks through its
// [TaskContext], and fails by returning an error or by panicking. A failed task is tried again where its error is
// retryable: return supervision.RetryAfter(0, err), or a messages.Error whose Retryable is true. [Task].Policy says how
// often. Tasks may ask people ([TaskContext.Ask]) and start sub-runs ([TaskContext.Start]).
//
// [Do] makes a step of a task: its result is kept in the run's log, so that the next attempt, on this node or another,
// does not make it again. With [Job].Restart a run whose node is gone goes on after its last step.
//
// Readers pull by cursor ([Run.Events], [System.Events], [System.Follow]): a slow one costs the run nothing and gets
// merged deltas. An actor subscribes instead ([System.Subscribe]). A journal.Archive reads a journal beside the nodes
// that write it.
//
// End a node with [System.Close] and a fresh context: the context that ended the program is done already. To offer jobs
// as MCP tools over stdio or HTTP, give the System to package transport/mcp: its Server.Serve serves os.Stdin and
// os.Stdout.
//
// Where to look first: machine.go is a run as a state machine, a pure step from a message to effects, and run_actor.go
// drives it. log.go joins the parts of a run's log: the ledger decides what is true, the view shows it to readers, and
// the appender alone appends to the [Journal].
//
// A run has exactly one terminal event. The ledger's finish allows no second one. Supervision provides the first: the
// run's actor reports for its tasks, the actor's supervisor for the run's actor, and the node that claims a run for the
// node that left it.
package actors
