package supervision_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// Wrong: a child that panics in Stopping is given the Stop directive, ignores it as "already stopping", stays
// registered and never tells its parent, which can then never stop.
// Cure: the guard swallows and reports panics in lifecycle messages.
// When this fails: the guard may let such a panic through to the supervisor, if the child still ends.
func TestPinnedB1PanicInStoppingWedgesTheTree(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		pid := u.tree(always(actor.StopDirective), top.note, panicsOn[*actor.Stopping])
		u.wantUnstoppable(pid)
		u.wantAlive(pid, u.kid(pid, 0))
		top.want(t, "Started", "Stopping")
	})
}

// Wrong: the same panic under the Restart directive revives the child: it was stopped, and works on.
// Cure: as above, and RestartDirective is never used.
// When this fails: see TestPinnedB1PanicInStoppingWedgesTheTree.
func TestPinnedB1PanicInStoppingRevives(t *testing.T) {
	pinned(t, func(u upstream) {
		var kid record
		pid := u.tree(always(actor.RestartDirective), ignore, kid.then(panicsOn[*actor.Stopping]))
		u.Root.Stop(u.kid(pid, 0))
		u.tell(u.kid(pid, 0), "work")
		kid.want(t, "Started", "Stopping", "Restarting", "Started", "work")
	})
}

// Wrong: a child that panics in Stopped has left the registry already, so its Terminated is never sent and no
// directive reaches it: the parent waits for it for ever.
// Cure: the guard swallows and reports panics in lifecycle messages.
// When this fails: the guard may let such a panic through, if Terminated still arrives.
func TestPinnedB2PanicInStoppedWedgesTheParent(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		pid := u.tree(always(actor.StopDirective), top.note, panicsOn[*actor.Stopped])
		u.wantUnstoppable(pid)
		u.wantAlive(pid)
		u.wantGone(u.kid(pid, 0))
		top.want(t, "Started", "Stopping")
	})
}

// Wrong: AllForOne restarts a child whose Stop is already queued. It stops, is incarnated anew outside the registry,
// gets Started and handles what was queued: nobody can reach or stop it.
// Cure: RestartDirective is never used; a child is stopped and another is spawned after its Terminated.
// When this fails: stop-and-respawn stays (it also empties the mailbox); only this reason for it is gone.
func TestPinnedB3RestartRevivesAStoppedChild(t *testing.T) {
	pinned(t, func(u upstream) {
		var kid record
		gate := make(chan struct{})
		strategy := actor.NewAllForOneStrategy(10, 0, actor.DefaultDecider)
		pid := u.tree(strategy, ignore, kid.then(waitsFor(gate)), panicsOn[string])
		u.tell(u.kid(pid, 0), "wait")
		u.tell(u.kid(pid, 0), "work")
		u.Root.Stop(u.kid(pid, 0))
		u.tell(u.kid(pid, 1), "crash")
		u.open(gate)
		kid.want(t, "Started", "wait", "Stopping", "Stopped", "Restarting", "Started", "work")
		u.wantGone(u.kid(pid, 0))
	})
}

// Wrong: a child spawned in Stopped is never told to stop: it outlives its parent as an orphan.
// Cure: spawning in lifecycle messages other than Started is forbidden by review.
// When this fails: the rule may be relaxed for Stopped.
func TestPinnedB9SpawnInStoppedLeavesAnOrphan(t *testing.T) {
	pinned(t, func(u upstream) {
		var orphan record
		pid := u.spawn(func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Stopped); ok {
				_, _ = ctx.SpawnNamed(actor.PropsFromFunc(orphan.note), "0")
			}
		})
		u.wantStops(pid)
		u.tell(u.kid(pid, 0), "work")
		orphan.want(t, "Started", "work")
	})
}

// Wrong: a child spawned in Terminated while the parent is stopping is never told to stop, and the parent waits for
// it for ever.
// Cure: a supervisor that is stopping never respawns.
// When this fails: that check is no longer what keeps the tree from hanging.
func TestPinnedB9SpawnWhileStoppingHoldsTheParent(t *testing.T) {
	pinned(t, func(u upstream) {
		var late record
		pid := u.tree(always(actor.StopDirective), func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Terminated); ok {
				_, _ = ctx.SpawnNamed(actor.PropsFromFunc(late.note), "late")
			}
		}, ignore)
		u.wantUnstoppable(pid)
		late.want(t, "Started")
	})
}

// Wrong: a HandleFailure that decides nothing leaves the child suspended for ever: no message is read any more, a
// PoisonPill included.
// Cure: every failure ends in a decision; supervisors stop the child before anything else.
// When this fails: look whether an undecided failure now resumes the child, which would hide a crash.
func TestPinnedB10UndecidedFailureSuspendsForEver(t *testing.T) {
	pinned(t, func(u upstream) {
		var kid record
		pid := u.tree(onFailure(func(actor.Supervisor, any) {}), ignore, kid.then(panicsOn[string]))
		u.tell(u.kid(pid, 0), "crash")
		u.tell(u.kid(pid, 0), "work")
		if err := u.Root.PoisonFuture(u.kid(pid, 0)).Wait(); err != actor.ErrTimeout {
			t.Errorf("poisoning a suspended child gives %v, want %v", err, actor.ErrTimeout)
		}
		kid.want(t, "Started", "crash")
	})
}

// Wrong: Goexit in Receive kills the mailbox: there is no failure, nothing is read any more, not even Stop, and the
// tree above cannot stop.
// Cure: the guard turns Goexit into a crash with a stack, and the dispatcher goes on with the mailbox on a new goroutine.
// When this fails: both halves of that cure may go.
func TestPinnedB11GoexitKillsTheMailbox(t *testing.T) {
	pinned(t, func(u upstream) {
		var kid record
		var failures atomic.Int32
		count := onFailure(func(actor.Supervisor, any) { failures.Add(1) })
		pid := u.tree(count, ignore, kid.then(on("exit", func(actor.Context) { runtime.Goexit() })))
		u.tell(u.kid(pid, 0), "exit")
		u.tell(u.kid(pid, 0), "work")
		u.wantUnstoppable(pid)
		kid.want(t, "Started", "exit")
		if n := failures.Load(); n != 0 {
			t.Errorf("Goexit was reported as %d failures, want none", n)
		}
	})
}

// Wrong: a child that blocks in Receive is never reported, and its parent waits in Stopping as long as it blocks.
// Cure: deadlines make a hang visible, and abandonment tells the parent in the child's place.
// When this fails: the library has a stop deadline of its own; compare it with abandonment.
func TestPinnedHangInReceiveHoldsTheTree(t *testing.T) {
	pinned(t, func(u upstream) {
		gate := make(chan struct{})
		pid := u.tree(always(actor.StopDirective), ignore, waitsFor(gate))
		u.tell(u.kid(pid, 0), "wait")
		u.wantUnstoppable(pid)
		u.open(gate)
		u.wantGone(pid)
	})
}

// Wrong: whoever watches an actor that is still stopping is told Terminated at once, so a second StopFuture succeeds
// while the actor and its child are alive.
// Cure: the end of an actor is taken from a watch set up before it was stopped.
// When this fails: a watch may be set up at any time.
func TestPinnedWatchOnAStoppingActorLies(t *testing.T) {
	pinned(t, func(u upstream) {
		gate := make(chan struct{})
		pid := u.tree(always(actor.StopDirective), ignore, waitsFor(gate))
		u.tell(u.kid(pid, 0), "wait")
		u.Root.Stop(pid)
		u.settle()
		u.wantStops(pid)
		u.wantAlive(pid, u.kid(pid, 0))
		u.open(gate)
	})
}

// Wrong: Shutdown stops no actor and no traffic, and a second call panics.
// Cure: the runtime stops its top actors with a deadline, then calls Shutdown once.
// When this fails: Shutdown may be trusted to stop actors (once, or idempotently: read what changed).
func TestPinnedShutdownStopsNothing(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		pid := u.spawn(top.note)
		u.Shutdown()
		u.tell(pid, "work")
		u.wantAlive(pid)
		top.want(t, "Started", "work")
		if recovered(u.Shutdown) == nil {
			t.Error("the second Shutdown does not panic")
		}
	})
}

// Wrong: a parent is told of its children's end without watching them; if it watches too, it is told twice.
// Cure: parents never watch their own children.
// When this fails: the rule may go, and a handler of Terminated need not expect a twin.
func TestPinnedWatchOnOwnChildTellsTwice(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		watch := func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Started); ok {
				ctx.Watch(ctx.Children()[0])
			}
		}
		pid := u.tree(always(actor.StopDirective), top.then(watch), ignore)
		u.wantStops(u.kid(pid, 0))
		u.settle()
		top.want(t, "Started", "Terminated", "Terminated")
	})
}

// Wrong: Terminated says Stopped whether the child crashed or was stopped.
// Cure: the supervisor keeps the reason it saw in HandleFailure, which comes before that child's Terminated.
// When this fails: the reason may be read from Terminated, and that bookkeeping may go.
func TestPinnedTerminatedHidesTheCrash(t *testing.T) {
	pinned(t, func(u upstream) {
		var why []actor.TerminatedReason
		pid := u.tree(always(actor.StopDirective), func(ctx actor.Context) {
			if end, ok := ctx.Message().(*actor.Terminated); ok {
				why = append(why, end.Why)
			}
		}, panicsOn[string], ignore)
		u.tell(u.kid(pid, 0), "crash")
		u.wantStops(u.kid(pid, 1))
		u.settle()
		if want := []actor.TerminatedReason{actor.TerminatedReason_Stopped, actor.TerminatedReason_Stopped}; !slices.Equal(why, want) {
			t.Errorf("Terminated of a crashed and of a stopped child say %v, want %v", why, want)
		}
	})
}
