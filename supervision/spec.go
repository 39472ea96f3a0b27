package supervision

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// How long a child has to stop. See [ChildSpec].
const (
	DefaultShutdown               = 5 * time.Second
	Infinity        time.Duration = -1 // wait for ever: right for supervisors, which wait for their own children
)

// ChildSpec describes a child.
type ChildSpec struct {
	// Name is unique among the children of one parent. The PID is parent/Name; once an incarnation was abandoned, later
	// ones are parent/Name~1 and so on, so that its late end cannot take their place from them.
	Name string
	// Shutdown is how long the child has to stop before it is abandoned. 0 is [DefaultShutdown]; see [Infinity].
	Shutdown time.Duration
	// New is called once for each incarnation.
	New func() actor.Actor
}

// Exit is the end of a child.
type Exit struct {
	Name string
	// PID is the ended incarnation's. Keeping it keeps the dead actor in memory.
	PID *actor.PID
	// Err is nil if the parent asked for the end, or the child said goodbye. It is a [*Crash] if the child crashed (even
	// when it was asked to stop), [ErrKilled] if somebody else stopped it, [ErrAbandoned] if it did not stop in time. A child
	// that crashed and then did not stop is both, for errors.Is and errors.As.
	Err error
	// Asked: the parent called Stop.
	Asked bool
}

// goodbye is what a child that ends normally says to its parent.
type goodbye struct {
	NoDeadLetterLog
	who *actor.PID
}

// Goodbye ends the actor normally: its parent's Exit has no Err. Call it in Receive, at the end.
func Goodbye(ctx actor.Context) {
	// The parent of a top actor is no actor, and takes no messages.
	if process, ok := ctx.ActorSystem().ProcessRegistry.Get(ctx.Parent()); ok {
		if _, ok := process.(*actor.ActorProcess); ok {
			process.SendUserMessage(ctx.Parent(), &goodbye{who: ctx.Self()})
		}
	}
	ctx.Stop(ctx.Self())
}

// NoDeadLetterLog is embedded in messages that may reach an actor after its end: the library then logs nothing.
type NoDeadLetterLog struct{}

// IgnoreDeadLetterLogging implements [actor.IgnoreDeadLetterLogging].
func (NoDeadLetterLog) IgnoreDeadLetterLogging() {}
