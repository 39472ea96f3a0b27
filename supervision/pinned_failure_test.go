package supervision_test

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// Wrong: a panic reaches HandleFailure as its bare value, on the parent's goroutine: where it happened is lost.
// Cure: the guard re-panics with a crash that carries the value and the stack.
// When this fails: take the stack from the library if it is the crash site's, and drop that half of the guard.
func TestPinnedFailureHasNoStack(t *testing.T) {
	pinned(t, func(u upstream) {
		boom := errors.New("boom")
		var reason any
		var stack string
		strategy := onFailure(func(_ actor.Supervisor, r any) { reason, stack = r, string(debug.Stack()) })
		pid := u.tree(strategy, ignore, on("crash", func(actor.Context) { crashSite(boom) }))
		u.tell(u.kid(pid, 0), "crash")
		if reason != boom {
			t.Errorf("reason is %#v, want the bare panic value", reason)
		}
		if strings.Contains(stack, "crashSite") {
			t.Errorf("HandleFailure runs below the crash site:\n%s", stack)
		}
	})
}

//go:noinline
func crashSite(reason error) { panic(reason) }

// Wrong: a failure is a system message and overtakes what the child sent before it died.
// Cure: HandleFailure stops the child and sends its own actor an ordinary message, which queues behind the child's last words.
// When this fails: the detour may go, if the order is promised.
func TestPinnedFailureOvertakesLastWords(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		gate := make(chan struct{})
		strategy := onFailure(func(actor.Supervisor, any) { top.add("failure") })
		pid := u.tree(strategy, top.then(waitsFor(gate)), on("work", func(ctx actor.Context) {
			ctx.Send(ctx.Parent(), "delta")
			ctx.Send(ctx.Parent(), "delta")
			panic("boom")
		}))
		u.tell(pid, "wait")
		u.tell(u.kid(pid, 0), "work")
		u.open(gate)
		top.want(t, "Started", "wait", "failure", "delta", "delta")
	})
}

// Wrong: a restarted actor keeps its mailbox but never sees again the message it crashed on, and nobody is told which
// one that was.
// Cure: RestartDirective is never used; the run decides what a new child is given.
// When this fails: a crashing message may now be retried for ever; stop-and-respawn matters all the more.
func TestPinnedRestartDropsTheCrashingMessage(t *testing.T) {
	pinned(t, func(u upstream) {
		var kid record
		pid := u.tree(always(actor.RestartDirective), ignore, kid.then(on("crash", func(actor.Context) { panic("boom") })))
		for _, message := range []string{"first", "crash", "last"} {
			u.Root.Send(u.kid(pid, 0), message)
		}
		u.settle()
		kid.want(t, "Started", "first", "crash", "Restarting", "Started", "last")
	})
}

// Wrong: a constructor's panic is not the child's failure: it goes off in whoever spawns, here the code outside.
// Cure: constructors of child specs only build the struct; what can fail is done in Started.
// When this fails: spawning can no longer take down its caller, and the rule may be relaxed.
func TestPinnedConstructorPanicsInTheSpawner(t *testing.T) {
	pinned(t, func(u upstream) {
		props := actor.PropsFromProducer(func() actor.Actor { panic("boom") })
		if got := recovered(func() { u.Root.Spawn(props) }); got != "boom" {
			t.Errorf("Spawn panicked with %v, want the constructor's own panic", got)
		}
	})
}
