package supervision

import (
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
)

// Alive reports whether the actor is registered: it has not stopped, and was not abandoned.
func (n *Node) Alive(pid *actor.PID) bool {
	_, ok := n.system.ProcessRegistry.Get(pid)
	return ok
}

// Abandon gives an actor up that does not stop: it is unregistered, counted, and parent is told that it ended, so that
// the tree can go on. A nil parent is told nothing. The actor's goroutine, and its children, live on for as long as its
// Receive does not return; then it stops. An actor that is not registered is left alone.
func (n *Node) Abandon(parent, child *actor.PID) {
	if process, ok := n.system.ProcessRegistry.Get(child); ok {
		n.abandon(parent, child, process)
	}
}

// abandon gives up this very process, and nothing if its id has another by now. It counts exactly: either it or the
// process itself takes the registry's entry.
func (n *Node) abandon(parent, child *actor.PID, process actor.Process) {
	bucket := n.system.ProcessRegistry.LocalPIDs.GetBucket(child.Id)
	taken := bucket.RemoveCb(child.Id, func(_ string, registered any, exists bool) bool {
		if !exists || registered != any(process) {
			return false
		}
		n.anyAbandoned.Store(true)
		n.abandoned.Store(child.Id, nil)
		return true
	})
	if !taken {
		return
	}
	n.abandonedActors.Add(1)
	process.Stop(child) // also makes PIDs forget the process
	if parent != nil {
		n.tell(parent, &actor.Terminated{Who: child})
	}
}

func (n *Node) wasAbandoned(id string) bool {
	if !n.anyAbandoned.Load() {
		return false
	}
	_, ok := n.abandoned.Load(id)
	return ok
}

// freshName returns the name, or name~1, name~2 ... if the id was an abandoned actor's.
func (n *Node) freshName(parent *actor.PID, name string) string {
	fresh := name
	if !n.anyAbandoned.Load() {
		return fresh
	}
	for i := 1; n.wasAbandoned(parent.Id + "/" + fresh); i++ {
		fresh = name + "~" + strconv.Itoa(i)
	}
	return fresh
}

// tell sends a system message, if there is somebody to send it to.
func (n *Node) tell(pid *actor.PID, message any) {
	if process, ok := n.system.ProcessRegistry.Get(pid); ok {
		process.SendSystemMessage(pid, message)
	}
}
