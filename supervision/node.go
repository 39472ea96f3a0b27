package supervision

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Node is what the actors of one runtime share: the library's actor system, the warm dispatcher and the counters.
type Node struct {
	system *actor.ActorSystem
	root   *actor.RootContext
	warm   *dispatcher
	pool   sync.Pool // of *props

	tasks, abandonedTasks, abandonedActors, swallowed atomic.Int64

	// abandoned holds the ids of abandoned actors. They are never used again: such an actor may yet come to its end, and
	// would then unregister whoever has its id.
	abandoned    sync.Map
	anyAbandoned atomic.Bool
}

// Counters are read at one moment; each is exact by itself.
type Counters struct {
	// Tasks counts the goroutines of tasks that are alive now, those of abandoned tasks included.
	Tasks int64
	// AbandonedTasks and AbandonedActors count those that did not end in time, ever. An alarm belongs on them: each may
	// hold a goroutine for good.
	AbandonedTasks, AbandonedActors int64
	// SwallowedCrashes counts crashes without consequence, ever: an actor crashed when it was already stopping.
	SwallowedCrashes int64
}

// NewNode returns a Node that runs in the actor system and never ends it. With a nil system the node makes its own,
// with an address that tells its PIDs from all others, and the library logs to log; a nil log is silent. End the node
// with [Node.Close].
func NewNode(log *slog.Logger, system *actor.ActorSystem) *Node {
	if system == nil {
		system = newSystem(log)
	}
	root := actor.NewRootContext(system, nil).WithGuardian(stopFailed{})
	root.Self() // makes the guardian now: making it is not safe for concurrent use
	n := &Node{system: system, root: root, warm: newDispatcher()}
	n.pool.New = n.newProps
	return n
}

func newSystem(log *slog.Logger) *actor.ActorSystem {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	system := actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(throttle),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }),
	)
	// Every system begins with the same address, and with the same ids: a foreign PID would be taken for one of ours.
	system.ProcessRegistry.Address = "lastword-" + system.ID
	return system
}

// System returns the library's actor system.
func (n *Node) System() *actor.ActorSystem { return n.system }

// Owns reports whether the PID is of this node's actor system and its process is registered there. It cannot tell apart
// a given system and another with the same address, which is the library's default.
func (n *Node) Owns(pid *actor.PID) bool {
	return pid != nil && pid.Address == n.system.Address() && n.Alive(pid)
}

// Root spawns the top actors. One that crashes is stopped; the library's own root would restart it in place, with the
// mailbox it has.
func (n *Node) Root() *actor.RootContext { return n.root }

// Props wraps the actors that producer makes in the guard and runs them on the node's warm goroutines. An actor that is no
// [actor.SupervisorStrategy] stops the children that fail.
func (n *Node) Props(producer func() actor.Actor) *actor.Props {
	return n.wrap(func() actor.Actor { return &guard{node: n, inner: producer()} })
}

func (n *Node) wrap(guarded actor.Producer) *actor.Props {
	return actor.PropsFromProducer(guarded, actor.WithMailbox(func() actor.Mailbox { return &inbox{warm: n.warm} }))
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

// throttle is how long the goroutine lives that the library starts whenever a letter is dead.
const throttle = time.Nanosecond

// Close ends the dispatcher's parked goroutines. It outlives the library's goroutines in a system of the node's own. It
// is idempotent. No actor of the node may be alive.
func (n *Node) Close() {
	n.warm.close()
	time.Sleep(2 * throttle)
}

// stopFailed is the strategy above the top actors.
type stopFailed struct{}

// HandleFailure stops the actor that failed.
func (stopFailed) HandleFailure(
	_ *actor.ActorSystem, guardian actor.Supervisor, who *actor.PID, _ *actor.RestartStatistics, _, _ any,
) {
	guardian.StopChildren(who)
}
