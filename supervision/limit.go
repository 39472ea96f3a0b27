package supervision

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// leave limits the stop of every child; the library asks them as soon as this message is handled.
func (c *Children) leave(ctx actor.Context) {
	c.leaving, c.self = true, ctx.Self()
	for _, k := range c.roster.list {
		c.limit(k)
	}
}

// limit abandons the child when its time to stop is over. The timer goes past the actor's mailbox: that may be suspended
// by a crash of the actor itself.
func (c *Children) limit(k *child) {
	process, alive := c.Node.system.ProcessRegistry.Get(k.pid)
	if !alive || k.timer != nil {
		return
	}
	node, parent, pid := c.Node, c.self, k.pid
	switch d := k.patience(); d {
	case Infinity:
	case Brutal:
		node.abandon(parent, pid, process)
	default:
		k.timer = time.AfterFunc(d, func() { node.abandon(parent, pid, process) })
	}
}

// patience returns how long the child has. One that crashed ends by itself, and Brutal has nothing to add to that.
func (k *child) patience() time.Duration {
	if k.shutdown == 0 || k.shutdown == Brutal && k.crash != nil {
		return DefaultShutdown
	}
	return k.shutdown
}
