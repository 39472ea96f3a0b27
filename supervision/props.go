package supervision

import "github.com/asynkron/protoactor-go/actor"

// props is one of a pool. The library's Props are large and hold a producer: one serves any number of actors, one after
// the other, because none is ever made again in place.
type props struct {
	*actor.Props
	next *guard // what the producer returns
}

func (n *Node) newProps() any {
	p := &props{}
	p.Props = n.wrap(func() actor.Actor { return p.next })
	return p
}

// spawn spawns the guard as a child. The guard was made before: the library would have the producer make it in the midst
// of its own work.
func (n *Node) spawn(ctx actor.SpawnerContext, g *guard, name string) (*actor.PID, error) {
	p := n.pool.Get().(*props)
	p.next = g
	pid, err := ctx.SpawnNamed(p.Props, name)
	p.next = nil
	n.pool.Put(p)
	return pid, err
}
