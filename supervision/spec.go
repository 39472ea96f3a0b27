package supervision

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Values of [ChildSpec].Shutdown.
const (
	DefaultShutdown               = 5 * time.Second
	Infinity        time.Duration = -1 // for supervisors, which wait for their own children
)

// ChildSpec describes a child of [Children] or of a supervisor.
type ChildSpec struct {
	// Name is unique among the children of one parent. The PID is parent/Name. After an abandonment the next one is
	// parent/Name~1 and so on, so that the late end of the abandoned actor cannot harm its successor.
	Name string
	// Shutdown is how long the child may take to stop before it is abandoned. 0 means [DefaultShutdown]; see also
	// [Infinity].
	Shutdown time.Duration
	// New makes each incarnation.
	New func() actor.Actor
}

// Exit reports the end of a child.
type Exit struct {
	Name string
	// PID is that of the ended incarnation. Keeping it keeps the dead actor in memory.
	PID *actor.PID
	// Err is nil if the parent asked for the end, or if the child said goodbye. It is a [*Crash] if the child
	// crashed, even when asked to stop; [ErrKilled] if somebody else stopped it; [ErrAbandoned] if it did not stop in
	// time. A child that crashed and then did not stop is both.
	Err error
	// Asked: the parent called Stop.
	Asked bool
}

// goodbye tells the parent that a child ends normally.
type goodbye struct {
	NoDeadLetterLog
	who *actor.PID
}

// Goodbye ends the actor normally: its Exit has no Err. Call it last in Receive.
func Goodbye(ctx actor.Context) {
	// The parent of a top actor is no actor, and takes no messages
	if process, ok := ctx.ActorSystem().ProcessRegistry.Get(ctx.Parent()); ok {
		if _, ok := process.(*actor.ActorProcess); ok {
			process.SendUserMessage(ctx.Parent(), &goodbye{who: ctx.Self()})
		}
	}
	ctx.Stop(ctx.Self())
}

// NoDeadLetterLog is embedded in messages that may reach an actor after its end: the library then logs nothing.
type NoDeadLetterLog struct{}

// IgnoreDeadLetterLogging marks the message for the library.
func (NoDeadLetterLog) IgnoreDeadLetterLogging() {}
