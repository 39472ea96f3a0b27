package supervision

import (
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
)

// Alive reports whether the actor is registered: it has neither stopped nor been abandoned.
func (n *Node) Alive(pid *actor.PID) bool {
	_, ok := n.system.ProcessRegistry.Get(pid)
	return ok
}

// Abandon gives up an actor that does not stop. It unregisters and counts the actor, and tells parent, unless that is
// nil, that the actor ended: so the tree can continue. The actor's goroutine and its children live on until its
// Receive returns. Abandon ignores an actor that is not registered.
func (n *Node) Abandon(parent, child *actor.PID) {
	if process, ok := n.system.ProcessRegistry.Get(child); ok {
		n.abandon(parent, child, process)
	}
}

// abandon gives up exactly this process, even if another process has its id by now. The count is exact, because
// either abandon or the process itself removes the registry's entry.
func (n *Node) abandon(parent, child *actor.PID, process actor.Process) {
	bucket := n.system.ProcessRegistry.LocalPIDs.GetBucket(child.Id)
	taken := bucket.RemoveCb(child.Id, func(_ string, registered any, exists bool) bool {
		if !exists || registered != any(process) {
			return false
		}
		n.abandoned.Store(child.Id, nil)
		n.abandonedActors.Add(1)
		return true
	})
	if !taken {
		return
	}
	process.Stop(child) // also makes PIDs forget the process
	if parent != nil {
		n.tell(parent, &actor.Terminated{Who: child})
	}
}

func (n *Node) wasAbandoned(id string) bool {
	_, ok := n.abandoned.Load(id)
	return ok
}

// freshName returns the name. If an abandoned actor had the resulting id, it returns name~1, name~2 and so on.
func (n *Node) freshName(parent *actor.PID, name string) string {
	fresh := name
	for i := 1; n.abandonedActors.Load() > 0 && n.wasAbandoned(parent.Id+"/"+fresh); i++ {
		fresh = name + "~" + strconv.Itoa(i)
	}
	return fresh
}

// tell sends a system message, if its receiver is registered.
func (n *Node) tell(pid *actor.PID, message any) {
	if process, ok := n.system.ProcessRegistry.Get(pid); ok {
		process.SendSystemMessage(pid, message)
	}
}
