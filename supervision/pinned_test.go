package supervision_test

// The pins: behaviour of protoactor-go, as of v0.0.0-20260118094027-288962e52f3f, that this package stands on. Each
// says what stands on it, and fails when a newer version behaves otherwise. That is news, not a regression: look at what
// stands on it again, and remove the test or turn it round. No pin uses this package: they drive the bare library.

import (
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// A panic reaches HandleFailure as its bare value, on the parent's goroutine: where it happened is lost.
// On it stands the [supervision.Crash], with which the guard panics again.
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

// A failure is a system message and overtakes what the child sent before it died.
// On it stands the message that Children sends to its own actor at the end of a child, and that becomes its Exit.
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

// HandleFailure comes before the Terminated of that child, which says Stopped whether the child crashed or was stopped.
// On it stands the crash that Children keeps until the Exit.
func TestPinnedTerminatedHidesTheCrash(t *testing.T) {
	pinned(t, func(u upstream) {
		var heard []any
		strategy := onFailure(func(parent actor.Supervisor, reason any) {
			heard = append(heard, reason)
			parent.StopChildren(parent.Children()...)
		})
		pid := u.tree(strategy, func(ctx actor.Context) {
			if end, ok := ctx.Message().(*actor.Terminated); ok {
				heard = append(heard, end.Why)
			}
		}, panicsOn[string])
		u.tell(u.kid(pid, 0), "crash")
		if want := []any{"boom", actor.TerminatedReason_Stopped}; !slices.Equal(heard, want) {
			t.Errorf("heard %v, want %v", heard, want)
		}
	})
}

// A constructor's panic is not the child's failure: it goes off in whoever spawns, in the midst of the library's work.
// On it stands that Children makes the actor before it spawns it.
func TestPinnedConstructorPanicsInTheSpawner(t *testing.T) {
	pinned(t, func(u upstream) {
		props := actor.PropsFromProducer(func() actor.Actor { panic("boom") })
		if got := recovered(func() { u.Root.Spawn(props) }); got != "boom" {
			t.Errorf("Spawn panicked with %v, want the constructor's own panic", got)
		}
	})
}

// A child that panics in Stopping is given the Stop directive, ignores it as "already stopping", stays registered and
// never tells its parent, which can then never stop.
// On it stands that the guard lets nothing out of an actor that is leaving.
func TestPinnedPanicInStoppingWedgesTheTree(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		pid := u.tree(always(actor.StopDirective), top.note, panicsOn[*actor.Stopping])
		u.wantUnstoppable(pid)
		u.wantAlive(pid, u.kid(pid, 0))
		top.want(t, "Started", "Stopping")
	})
}

// A child that panics in Stopped has left the registry already, so its Terminated is never sent and no directive reaches
// it: the parent waits for it for ever.
// On it stands the same.
func TestPinnedPanicInStoppedWedgesTheParent(t *testing.T) {
	pinned(t, func(u upstream) {
		var top record
		pid := u.tree(always(actor.StopDirective), top.note, panicsOn[*actor.Stopped])
		u.wantUnstoppable(pid)
		u.wantAlive(pid)
		u.wantGone(u.kid(pid, 0))
		top.want(t, "Started", "Stopping")
	})
}

// A child spawned in Terminated while the parent is stopping is never told to stop, and the parent waits for it for ever.
// On it stands [supervision.ErrStopping].
func TestPinnedSpawnWhileStoppingHoldsTheParent(t *testing.T) {
	pinned(t, func(u upstream) {
		var late record
		pid := u.tree(always(actor.StopDirective), upon[*actor.Terminated](func(ctx actor.Context) {
			_, _ = ctx.SpawnNamed(actor.PropsFromFunc(late.note), "late")
		}), ignore)
		u.wantUnstoppable(pid)
		late.want(t, "Started")
	})
}

// Goexit in Receive kills the mailbox: there is no failure, nothing is read any more, not even Stop, and the tree above
// cannot stop.
// On it stands that the guard makes a crash of Goexit, and that the dispatcher goes on with the inbox.
func TestPinnedGoexitKillsTheMailbox(t *testing.T) {
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

// A child that blocks in Receive is never reported, and its parent waits in Stopping as long as it blocks.
// On it stands abandonment.
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

// An actor that ends takes the registry's entry of its id, whoever has it by now.
// On it stands that the id of an abandoned actor is never used again.
func TestPinnedLateEndUnregistersTheSuccessor(t *testing.T) {
	pinned(t, func(u upstream) {
		gate := make(chan struct{})
		old, _ := u.Root.SpawnNamed(actor.PropsFromFunc(waitsFor(gate)), "name")
		u.tell(old, "wait")
		process, _ := u.ProcessRegistry.Get(old)
		u.ProcessRegistry.Remove(old)
		process.Stop(old)
		next, _ := u.Root.SpawnNamed(actor.PropsFromFunc(ignore), "name")
		u.settle()
		u.wantAlive(next)
		u.open(gate)
		u.wantGone(next)
	})
}

// Every system has the same address and counts its ids from 1: a PID of one is a PID of another.
// On it stands the address that a node gives its own system.
func TestPinnedSystemsShareAnAddress(t *testing.T) {
	pinned(t, func(u upstream) {
		var here, there record
		other, pid := silentSystem(), u.spawn(here.note)
		foreign := other.Root.Spawn(actor.PropsFromFunc(there.note))
		u.tell(actor.NewPID(foreign.Address, foreign.Id), "astray")
		if !pid.Equal(foreign) {
			t.Errorf("%s and %s differ", pid, foreign)
		}
		here.want(t, "Started", "astray")
		there.want(t, "Started")
	})
}

// The ring of a mailbox never shrinks: 100,000 messages, all handled, cost 2.6 MB as long as the actor lives.
// On it stands the inbox, which is small at rest.
func TestPinnedDrainedMailboxKeepsItsRing(t *testing.T) {
	pinned(t, func(u upstream) {
		gate := make(chan struct{})
		pid := u.spawn(waitsFor(gate))
		u.tell(pid, "wait")
		before := heapInUse()
		for range 100_000 {
			u.Root.Send(pid, "work")
		}
		u.open(gate)
		if kept := heapInUse() - before; kept < 2<<20 {
			t.Errorf("a drained mailbox keeps %d bytes, want more than 2 MB", kept)
		}
		u.wantStops(pid)
		u.tell(pid, "forget") // a PID lets go of a dead process when it is next used
		if kept := heapInUse() - before; kept > 1<<20 {
			t.Errorf("a stopped actor keeps %d bytes: what this test measures is not its ring", kept)
		}
	})
}

// heapInUse collects twice: the first round only moves what pools hold to their victims.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// upstream is a bare actor system in a bubble of virtual time.
type upstream struct {
	*actor.ActorSystem
	t *testing.T
}

// pinned runs body in a bubble, and runs out every timer the library may have left (futures, dead letters) at its end.
func pinned(t *testing.T, body func(upstream), options ...actor.ConfigOption) {
	synctest.Test(t, func(t *testing.T) { body(upstream{silentSystem(options...), t}); time.Sleep(24 * time.Hour) })
}

func silentSystem(options ...actor.ConfigOption) *actor.ActorSystem {
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	return actor.NewActorSystem(append(options, actor.WithLoggerFactory(silent), actor.WithDeadLetterThrottleInterval(1))...)
}

func (u upstream) spawn(receive actor.ReceiveFunc, options ...actor.PropsOption) *actor.PID {
	return u.Root.Spawn(actor.PropsFromFunc(receive, options...))
}

// tree spawns an actor with the strategy for its children, which are spawned in its Started before receive sees it.
func (u upstream) tree(strategy actor.SupervisorStrategy, receive actor.ReceiveFunc, kids ...actor.ReceiveFunc) *actor.PID {
	pid := u.spawn(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); ok {
			for i, kid := range kids {
				_, _ = ctx.SpawnNamed(actor.PropsFromFunc(kid), strconv.Itoa(i))
			}
		}
		receive(ctx)
	}, actor.WithSupervisor(strategy))
	u.settle()
	return pid
}

func (u upstream) kid(parent *actor.PID, i int) *actor.PID {
	return u.NewLocalPID(parent.Id + "/" + strconv.Itoa(i))
}

// settle returns when every mailbox is drained or blocked.
func (u upstream) settle() { synctest.Wait() }

func (u upstream) tell(pid *actor.PID, message string) {
	u.Root.Send(pid, message)
	u.settle()
}

func (u upstream) open(gate chan struct{}) {
	close(gate)
	u.settle()
}

func (u upstream) wantStops(pid *actor.PID) {
	u.t.Helper()
	if err := u.Root.StopFuture(pid).Wait(); err != nil {
		u.t.Errorf("stopping %s: %v, want it to stop", pid.Id, err)
	}
}

// wantUnstoppable stops an actor and expects that its end is not told within the library's 10 s.
func (u upstream) wantUnstoppable(pid *actor.PID) {
	u.t.Helper()
	if err := u.Root.StopFuture(pid).Wait(); err != actor.ErrTimeout {
		u.t.Errorf("stopping %s: %v, want %v", pid.Id, err, actor.ErrTimeout)
	}
}

func (u upstream) wantAlive(pids ...*actor.PID) {
	u.t.Helper()
	for _, pid := range pids {
		if _, ok := u.ProcessRegistry.Get(pid); !ok {
			u.t.Errorf("%s is not registered, want it to be", pid.Id)
		}
	}
}

func (u upstream) wantGone(pid *actor.PID) {
	u.t.Helper()
	if _, ok := u.ProcessRegistry.Get(pid); ok {
		u.t.Errorf("%s is registered, want it gone", pid.Id)
	}
}

// record is what actors have seen, in order: strings as they are, the library's messages by the names of their types.
type record struct {
	mu   sync.Mutex
	seen []string
}

func (r *record) add(entry string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, entry)
}

func (r *record) note(ctx actor.Context) { r.add(nameOf(ctx.Message())) }

func (r *record) then(next actor.ReceiveFunc) actor.ReceiveFunc { return both(r.note, next) }

func (r *record) want(t *testing.T, entries ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.seen, entries) {
		t.Errorf("seen %q,\nwant %q", r.seen, entries)
	}
}

func nameOf(message any) string {
	if text, ok := message.(string); ok {
		return text
	}
	return strings.TrimPrefix(actor.MessageName(message), "actor.")
}

// onFailure is a strategy that decides what the function does.
type onFailure func(supervisor actor.Supervisor, reason any)

func (f onFailure) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, _ *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	f(supervisor, reason)
}

func always(directive actor.Directive) actor.SupervisorStrategy {
	return actor.NewOneForOneStrategy(10, 0, func(any) actor.Directive { return directive })
}

func ignore(actor.Context) {}

func panicsOn[M any](ctx actor.Context) { upon[M](func(actor.Context) { panic("boom") })(ctx) }

func on(message string, do actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		if ctx.Message() == any(message) {
			do(ctx)
		}
	}
}

func waitsFor(gate chan struct{}) actor.ReceiveFunc {
	return on("wait", func(actor.Context) { <-gate })
}

func both(first, second actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx actor.Context) { first(ctx); second(ctx) }
}

func recovered(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
