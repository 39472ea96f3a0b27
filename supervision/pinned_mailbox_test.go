package supervision_test

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/asynkron/protoactor-go/actor"
)

// Wrong: a message dropped by BoundedDropping stays in the mailbox's count, so its loop never finds itself idle: it
// spins for ever, and still does when the actor has stopped. Each pass asks the dispatcher for its throughput once;
// only suspending the mailbox ends it.
// Cure: bounded mailboxes are not used; credits bound what is in flight.
// When this fails: dropping no longer burns a core, but it still loses messages silently.
func TestPinnedB4DroppingMailboxSpinsForEver(t *testing.T) {
	pinned(t, func(u upstream) {
		var log record
		gate := make(chan struct{})
		laps := &lapCounter{limit: 1000}
		pid := u.spawn(log.then(waitsFor(gate)), actor.WithMailbox(actor.BoundedDropping(4)), actor.WithDispatcher(laps))
		process, _ := u.ProcessRegistry.Get(pid)
		laps.atLimit = func() { process.SendSystemMessage(pid, &actor.SuspendMailbox{}) }
		u.tell(pid, "wait")
		for range 5 {
			u.Root.Send(pid, "work")
		}
		u.open(gate)
		log.want(t, "Started", "wait", "work", "work", "work")
		laps.want(t, 1000)

		u.wantStops(pid)
		process.SendSystemMessage(pid, &actor.ResumeMailbox{})
		u.settle()
		laps.want(t, 2000)
	})
}

// Wrong: whoever sends to a full Bounded mailbox spins until there is room.
// Cure: bounded mailboxes are not used; a task without credit waits on a channel.
// When this fails: a full mailbox blocks (or refuses) decently; it is still no place to wait inside Receive.
func TestPinnedB5FullMailboxSpinsItsSender(t *testing.T) {
	system := silentSystem()
	waiting, gate, sent := make(chan struct{}), make(chan struct{}), make(chan struct{})
	wait := on("wait", func(actor.Context) { close(waiting); <-gate })
	pid := system.Root.Spawn(actor.PropsFromFunc(wait, actor.WithMailbox(actor.Bounded(2))))
	system.Root.Send(pid, "wait")
	<-waiting
	go func() {
		defer close(sent)
		for range 3 {
			system.Root.Send(pid, "work")
		}
	}()
	wantSpinning(t, "RingBuffer).put")
	close(gate)
	<-sent
	if err := system.Root.StopFuture(pid).Wait(); err != nil {
		t.Error(err)
	}
}

// Wrong: the continuation of ReenterAfter is a system message that no receiver middleware sees: it overtakes older
// messages and runs outside the guard.
// Cure: tasks report by ordinary messages.
// When this fails: continuations may be reconsidered only if the next test fails too.
func TestPinnedB7ContinuationOvertakesAndEvadesMiddleware(t *testing.T) {
	pinned(t, func(u upstream) {
		var handled, guarded record
		gate := make(chan struct{})
		future := actor.NewFuture(u.ActorSystem, time.Hour)
		ask := on("ask", func(ctx actor.Context) {
			ctx.ReenterAfter(future, func(any, error) { handled.add("continuation") })
		})
		pid := u.spawn(handled.then(both(ask, waitsFor(gate))), actor.WithReceiverMiddleware(guarded.middleware))
		u.tell(pid, "ask")
		u.tell(pid, "wait")
		u.tell(pid, "older")
		u.tell(future.PID(), "answer")
		u.open(gate)
		handled.want(t, "Started", "ask", "wait", "continuation", "older")
		guarded.want(t, "Started", "ask", "wait", "older")
	})
}

// Wrong: a continuation asked for before a crash runs in the next incarnation, with the variables of the old one.
// Cure: a task's messages carry their incarnation, and those of another are dropped.
// When this fails: continuations may be reconsidered only if the test above fails too.
func TestPinnedB7ContinuationOutlivesItsIncarnation(t *testing.T) {
	pinned(t, func(u upstream) {
		future := actor.NewFuture(u.ActorSystem, time.Hour)
		var ran, stale bool
		crash := on("ask", func(ctx actor.Context) {
			old := ctx.Actor()
			ctx.ReenterAfter(future, func(any, error) { ran, stale = true, ctx.Actor() != old })
			panic("boom")
		})
		pid := u.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &probe{receive: crash} }))
		u.tell(pid, "ask")
		u.tell(future.PID(), "answer")
		if !ran || !stale {
			t.Errorf("continuation ran: %t, in a later incarnation: %t, want both", ran, stale)
		}
	})
}

// Wrong: what is queued when an actor stops is lost without a trace: no dead letter, and one who waits for an answer
// gets a timeout instead of "dead letter".
// Cure: the log's terminal event, not an answer, tells how a run ended.
// When this fails: dead letters may be used to account for messages of a stopped actor.
func TestPinnedB8QueuedMessagesVanishAtStop(t *testing.T) {
	pinned(t, func(u upstream) {
		var log record
		var dead atomic.Int32
		u.EventStream.Subscribe(func(event any) {
			if _, ok := event.(*actor.DeadLetterEvent); ok {
				dead.Add(1)
			}
		})
		gate := make(chan struct{})
		pid := u.spawn(log.then(waitsFor(gate)))
		u.tell(pid, "wait")
		for range 100 {
			u.Root.Send(pid, "work")
		}
		answer := u.Root.RequestFuture(pid, "work", time.Minute)
		u.Root.Stop(pid)
		u.open(gate)
		if err := answer.Wait(); err != actor.ErrTimeout {
			t.Errorf("the pending request ends with %v, want %v", err, actor.ErrTimeout)
		}
		log.want(t, "Started", "wait", "Stopping", "Stopped")
		if n := dead.Load(); n != 0 {
			t.Errorf("%d dead letters, want none", n)
		}
	})
}

// Wrong: the ring of a mailbox never shrinks: 100,000 messages, all handled, cost 2.6 MB as long as the actor lives.
// Cure: credits keep queues short.
// When this fails: bursts are no longer paid for ever; credits still bound the burst itself.
func TestPinnedB13DrainedMailboxKeepsItsRing(t *testing.T) {
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

// Wrong: a PID caches its process, so keeping the PID of a stopped actor keeps the actor too, until the PID is used.
// Cure: whoever must remember an actor for longer than it lives remembers an id.
// When this fails: PIDs may be kept.
func TestPinnedB13RetainedPIDPinsTheDeadActor(t *testing.T) {
	pinned(t, func(u upstream) {
		pids, actors := u.spawnAndStop(100)
		if n := survivors(actors); n != len(actors) {
			t.Errorf("%d of %d stopped actors are kept by their PIDs, want all", n, len(actors))
		}
		for _, pid := range pids {
			u.tell(pid, "forget")
		}
		if n := survivors(actors); n > len(actors)/10 {
			t.Errorf("%d of %d stopped actors outlive their PIDs' caches: the PID is not what keeps them", n, len(actors))
		}
		runtime.KeepAlive(pids)
	})
}

// Wrong: a late second answer overwrites the result of a future that is already resolved (and without a lock: a data
// race as soon as somebody reads it).
// Cure: no futures inside the runtime; tasks answer by messages.
// When this fails: futures are safe at the edges.
func TestPinnedRLateReplyOverwritesAFuture(t *testing.T) {
	pinned(t, func(u upstream) {
		future := actor.NewFuture(u.ActorSystem, time.Hour)
		var results []any
		for _, answer := range []string{"first", "late"} {
			u.tell(future.PID(), answer)
			result, _ := future.Result()
			results = append(results, result)
		}
		if want := []any{"first", "late"}; !slices.Equal(results, want) {
			t.Errorf("results are %v, want %v", results, want)
		}
	})
}

// lapCounter counts the passes of one mailbox's loop and calls atLimit at each multiple of the limit.
type lapCounter struct {
	limit   int64
	atLimit func()
	laps    atomic.Int64
}

func (c *lapCounter) Schedule(loop func()) { go loop() }

func (c *lapCounter) Throughput() int {
	if c.laps.Add(1)%c.limit == 0 {
		c.atLimit()
	}
	return 300
}

func (c *lapCounter) want(t *testing.T, laps int64) {
	t.Helper()
	if got := c.laps.Load(); got != laps {
		t.Errorf("the mailbox's loop ran %d times with nothing to do, want %d", got, laps)
	}
}

// wantSpinning waits until a goroutine is inside the function and proves that it never waits there: in a snapshot, which
// stops the world, a goroutine that yields in a loop is runnable, one that blocks names what it waits for.
func wantSpinning(t *testing.T, function string) {
	t.Helper()
	for start := time.Now(); len(statesIn(function)) == 0; runtime.Gosched() {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("no goroutine is in %s", function)
		}
	}
	busy := 0
	for range 50 {
		if slices.Contains([]string{"runnable", "running", "preempted"}, strings.Join(statesIn(function), "")) {
			busy++
		}
		runtime.Gosched()
	}
	if busy < 40 {
		t.Fatalf("the goroutine in %s was runnable in %d of 50 snapshots, want nearly all", function, busy)
	}
}

// statesIn lists the scheduler's word for each goroutine that is inside the function.
func statesIn(function string) []string {
	dump := make([]byte, 1<<20)
	dump = dump[:runtime.Stack(dump, true)]
	var states []string
	for goroutine := range strings.SplitSeq(string(dump), "\n\n") {
		if strings.Contains(goroutine, function) {
			_, rest, _ := strings.Cut(goroutine, "[")
			states = append(states, rest[:strings.IndexAny(rest, ",]")])
		}
	}
	return states
}

// probe is an actor that the garbage collector can be asked about: not tiny, and never shared between incarnations.
type probe struct{ receive actor.ReceiveFunc }

func (p *probe) Receive(ctx actor.Context) { p.receive(ctx) }

// spawnAndStop returns the PIDs of n stopped actors and weak pointers to the actors.
func (u upstream) spawnAndStop(n int) ([]*actor.PID, []weak.Pointer[probe]) {
	var pids []*actor.PID
	var actors []weak.Pointer[probe]
	for range n {
		pids = append(pids, u.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
			p := &probe{receive: ignore}
			actors = append(actors, weak.Make(p))
			return p
		})))
		u.tell(pids[len(pids)-1], "work")
		u.wantStops(pids[len(pids)-1])
	}
	return pids, actors
}

func survivors(actors []weak.Pointer[probe]) int {
	heapInUse()
	n := 0
	for _, a := range actors {
		if a.Value() != nil {
			n++
		}
	}
	return n
}

// heapInUse collects twice: the first round only moves what pools hold to their victims.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
