// Package actors is the runtime: it runs jobs as supervised actors and keeps what they say.
//
// A [System] is one node. [System.Start] takes a [Job], writes its run.queued and hands it to the runs' supervisor,
// which spawns one actor for the run; that actor spawns one child actor per [Task] and has them work in turn. A task is
// a plain blocking function; it runs in a goroutine of its own, says things through its [TaskContext], and fails by
// returning an error or by panicking. Everything the run says goes through one live log, which stamps numbers, asks
// [messages.State.Apply] whether the event is legal, appends it to the [Journal], and shows it to readers once the
// journal has it.
//
// Exactly one terminal: "at most one" is the log's compare-and-set (its finish), "at least one" is supervision. The run
// actor reports for its tasks, the runs' supervisor for the run actor, and a System that opens a journal for the runs
// that a dead process left behind.
//
// Readers pull by cursor ([Run.Events], [System.Events]): a slow one costs the run nothing and is given merged deltas.
// An actor that would rather be told subscribes ([System.Subscribe]).
package actors
