package supervision

import (
	"cmp"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Node is what the actors of one runtime share: the library's actor system, the dispatcher and the counters. It is
// safe for concurrent use.
type Node struct {
	system     *actor.ActorSystem
	root       *actor.RootContext
	dispatcher *dispatcher
	pool       sync.Pool // of *props

	tasks, abandonedTasks, abandonedActors, swallowed atomic.Int64

	// abandoned holds the ids of abandoned actors. They are never used again, because such an actor may still end,
	// and would then unregister whoever has its id.
	abandoned sync.Map
}

// Counters are a Node's counters. They are read one after the other; each is exact by itself.
type Counters struct {
	// Tasks is the number of live task goroutines, including goroutines of abandoned tasks.
	Tasks int64
	// AbandonedTasks and AbandonedActors count what did not end in time. Set an alarm on them: each may hold a
	// goroutine permanently.
	AbandonedTasks, AbandonedActors int64
	// SwallowedCrashes counts crashes without consequence: an actor crashed while it was already stopping.
	SwallowedCrashes int64
}

// NewNode returns a Node that runs in the given actor system and never ends that system. If system is nil, the node
// makes one with its own address, in which the library logs to log; a nil log is silent. Call [Node.Close] at
// the end.
func NewNode(log *slog.Logger, system *actor.ActorSystem) *Node {
	if system == nil {
		system = newSystem(log)
	}
	root := actor.NewRootContext(system, nil).WithGuardian(stopFailed{})
	root.Self() // now, because making the guardian is not safe for concurrent use
	n := &Node{system: system, root: root, dispatcher: &dispatcher{hand: make(chan turner)}}
	n.pool.New = n.newProps
	return n
}

// newSystem makes an actor system with its own address.
func newSystem(log *slog.Logger) *actor.ActorSystem {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	system := actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(throttle),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }),
	)
	// by default all systems have the same address and ids, so a PID of another system would pass for one of ours
	system.ProcessRegistry.Address = "lastword-" + system.ID
	return system
}

// System returns the library's actor system.
func (n *Node) System() *actor.ActorSystem { return n.system }

// Owns reports whether the PID is registered in this node's actor system. Two systems with the same address, which is
// the library's default, cannot be told apart.
func (n *Node) Owns(pid *actor.PID) bool {
	return pid != nil && pid.Address == n.system.Address() && n.Alive(pid)
}

// Root spawns top-level actors. One that crashes is stopped; the library's own root would restart it in place, with
// its mailbox.
func (n *Node) Root() *actor.RootContext { return n.root }

// Props wraps the producer's actors in the guard, and runs them on the node's dispatcher. An actor that is not an
// [actor.SupervisorStrategy] stops children that fail.
func (n *Node) Props(producer func() actor.Actor) *actor.Props {
	return n.wrap(func() actor.Actor { return &guard{node: n, inner: producer()} })
}

func (n *Node) wrap(guarded actor.Producer) *actor.Props {
	return actor.PropsFromProducer(guarded, actor.WithMailbox(func() actor.Mailbox { return &inbox{dispatcher: n.dispatcher} }))
}

// Counters returns the counters.
func (n *Node) Counters() Counters {
	return Counters{
		Tasks:            n.tasks.Load(),
		AbandonedTasks:   n.abandonedTasks.Load(),
		AbandonedActors:  n.abandonedActors.Load(),
		SwallowedCrashes: n.swallowed.Load(),
	}
}

// throttle is how long the library's goroutine for a dead letter lives.
const throttle = time.Nanosecond

// Close ends the dispatcher's parked goroutines. Call it when all actors of the node have ended; it may be called
// again. If the node made its actor system, the library's goroutines end before Close returns.
func (n *Node) Close() {
	n.dispatcher.close()
	time.Sleep(2 * throttle)
}

// stopFailed is the strategy above top-level actors.
type stopFailed struct{}

// HandleFailure stops the actor that failed.
func (stopFailed) HandleFailure(
	_ *actor.ActorSystem, guardian actor.Supervisor, who *actor.PID, _ *actor.RestartStatistics, _, _ any,
) {
	guardian.StopChildren(who)
}

// props are pooled, because the library's Props are large. One serves many actors in turn, since no actor is
// restarted in place.
type props struct {
	*actor.Props
	next *guard // the producer's result
}

func (n *Node) newProps() any {
	p := &props{}
	p.Props = n.wrap(func() actor.Actor { return p.next })
	return p
}

// spawn spawns the guard as a child. The guard is made before, because the library would call the producer in the
// middle of its own work.
func (n *Node) spawn(ctx actor.SpawnerContext, g *guard, name string) (*actor.PID, error) {
	p := n.pool.Get().(*props)
	p.next = g
	pid, err := ctx.SpawnNamed(p.Props, name)
	p.next = nil
	n.pool.Put(p)
	return pid, err
}
