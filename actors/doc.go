// Package actors runs jobs as supervised actors, and lets many readers follow each run.
//
//	go get github.com/seed889630bf/lastword
//	import "github.com/seed889630bf/lastword/actors"
//
// A [System] is one node; the example below embeds one. [System.Start] runs a [Job], which is a list of tasks. [Func]
// makes a job of one plain function. A [Task] is a blocking function in its own goroutine. It reports through
// its [TaskContext], and fails if it returns an error or panics. A failed task is tried again if its error is
// retryable: supervision.RetryAfter(0, err), or a messages.Error whose Retryable is true. [Task].Policy says how
// often. Tasks may ask people ([TaskContext.Ask]) and start sub-runs ([TaskContext.Start]).
//
// [Do] makes a step of a task. The run's log keeps the step's result, so that no later attempt, on this node or
// another, repeats it. With [Job].Restart, a run whose node was lost continues after its last step.
//
// Readers pull by cursor ([Run.Events], [System.Events], [System.Follow]). A slow reader costs the run nothing, and
// gets merged deltas. An actor subscribes instead ([System.Subscribe]). A journal.Archive reads a journal beside the
// nodes that write it.
//
// End a node with [System.Close] and a fresh context: the context that ended the program is already done. To offer
// jobs as MCP tools over stdio or HTTP, give the System to package transport/mcp: its Server.Serve serves os.Stdin
// and os.Stdout.
//
// Where to look first: a System is the sum of three parts. activeRuns (runs.go) accepts runs, owner (claim.go,
// settle.go) claims and settles them, and readers (read.go) reads their logs. machine.go is a run as a state machine, a
// pure step from a message to effects; run_actor.go drives it. internal/log is a run's log: it decides which events are
// legal, shows them to readers, and alone writes them to the [Journal].
//
// A run has exactly one terminal event. The log's Finish allows no second one. Supervision guarantees the first:
// the run's actor writes it for its tasks, and the actor's supervisor writes it for the run's actor. If a node dies, the
// node that takes over the run writes it.
package actors
