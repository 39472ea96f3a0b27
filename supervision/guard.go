package supervision

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// guard wraps an actor's Receive: it turns panics and Goexit into failures with a stack. A receiver middleware would
// cost an envelope per message. Only the actor's own turn touches its fields.
type guard struct {
	node  *Node
	inner actor.Actor
	// leaving: the actor was told to stop. From now on the library ignores a failure, and a parent would wait forever
	// for a child that failed. So nothing may escape.
	leaving bool
	gone    bool // the actor has stopped
}

// Receive runs the actor, and turns a panic or a Goexit into a crash.
func (g *guard) Receive(ctx actor.Context) {
	if !g.enter(ctx) {
		return
	}
	returned := false
	defer func() {
		if !returned {
			g.crashed(ctx, recover())
		}
	}()
	g.inner.Receive(ctx)
	returned = true
}

// HandleFailure passes a child's failure on to the actor, or stops the child if the actor is no strategy.
func (g *guard) HandleFailure(
	system *actor.ActorSystem, self actor.Supervisor, who *actor.PID, stats *actor.RestartStatistics, reason, msg any,
) {
	returned := false
	defer func() {
		if !returned {
			g.fail(crashOf(recover(), "HandleFailure"))
		}
	}()
	if strategy, ok := g.inner.(actor.SupervisorStrategy); ok {
		strategy.HandleFailure(system, self, who, stats, reason, msg)
	} else {
		self.StopChildren(who)
	}
	returned = true
}

// enter updates the guard's state, and reports whether the message is for the actor.
func (g *guard) enter(ctx actor.Context) bool {
	if g.gone {
		return false
	}
	switch m := ctx.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		g.leaving = true
	case *actor.Stopped:
		g.leaving, g.gone = true, true
	case *actor.Terminated:
		return m.Who != ctx.Self() // the message to itself from resume
	}
	return true
}

// crashed handles a panic, or Goexit if recovered is nil.
func (g *guard) crashed(ctx actor.Context, recovered any) {
	g.fail(crashOf(recovered, fmt.Sprintf("%T", ctx.Message())))
	if recovered == nil {
		g.resume(ctx)
	}
}

// fail passes the crash to the parent, or counts it if the actor is leaving.
func (g *guard) fail(crash *Crash) {
	if !g.leaving {
		panic(crash)
	}
	g.node.swallowed.Add(1)
}

// resume finishes what the library was about to do when Goexit ended its goroutine: it stops the children, and then
// the actor once there are none. The message to itself makes the library check that.
func (g *guard) resume(ctx actor.Context) {
	end := &actor.Terminated{Who: ctx.Self()}
	if g.gone {
		g.node.tell(ctx.Parent(), end)
		return
	}
	for _, child := range ctx.Children() {
		ctx.Stop(child)
	}
	g.node.tell(ctx.Self(), end)
}
