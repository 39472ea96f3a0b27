package supervision

import "github.com/asynkron/protoactor-go/actor"

// mold spawns guards. The library's Props are large and hold a producer: one mold serves any number of actors, one after
// the other, because none is ever made again in place.
type mold struct {
	props *actor.Props
	next  *guard
}

func (n *Node) newMold() any {
	m := &mold{}
	m.props = n.props(func() actor.Actor { return m.next })
	return m
}

// spawn spawns the guard as a child. The guard was made before: the library would have the producer make it in the midst
// of its own work.
func (n *Node) spawn(ctx actor.SpawnerContext, g *guard, name string) (*actor.PID, error) {
	m := n.molds.Get().(*mold)
	m.next = g
	pid, err := ctx.SpawnNamed(m.props, name)
	m.next = nil
	n.molds.Put(m)
	return pid, err
}
