package supervision

import (
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Options configure a supervisor. The zero value allows no restart.
type Options struct {
	// Intensity is the number of restarts, of all children together, that are allowed within Period. After more the
	// supervisor gives up.
	Intensity int
	Period    time.Duration
	// OnExit, unless nil, is called in the supervisor's Receive for each child that ended without being asked, or
	// failed to stop.
	OnExit func(Exit)
}

// Shutdown makes a supervisor stop its children in reverse order, waiting for each or abandoning it, and then end.
// [Children.Stop] sends it to supervisors.
type Shutdown struct{ NoDeadLetterLog }

// supervisor restarts a node's static children. Only its Receive touches the fields.
type supervisor struct {
	Children
	options   Options
	restarts  []time.Time // within the period
	specs     []ChildSpec
	closing   bool        // the children stop one by one, the last one first
	escalates *Escalation // how the supervisor ends after closing; nil is a goodbye
}

// NewSupervisor returns a supervisor of a node's static children. It starts them in order, and restarts each child
// that ends. If a start fails, or there are too many restarts, it stops the others in reverse order and fails with an
// *[Escalation], which its parent finds in the Exit. Stop it with [Shutdown]: the library's Stop ends its children in
// no order.
func NewSupervisor(n *Node, o Options, specs ...ChildSpec) actor.Actor {
	return &supervisor{Children: Children{Node: n}, options: o, specs: specs}
}

// Receive starts the children in order, and restarts those that end.
func (s *supervisor) Receive(ctx actor.Context) {
	exit, handled := s.Children.Receive(ctx)
	if exit != nil {
		s.exited(ctx, exit)
	}
	if handled {
		return
	}
	switch ctx.Message().(type) {
	case *actor.Started:
		for _, spec := range s.specs {
			if !s.start(ctx, spec) {
				return
			}
		}
	case Shutdown, *Shutdown:
		s.close(ctx, nil)
	}
}

// start starts the child, or gives up. It reports whether the child has started.
func (s *supervisor) start(ctx actor.Context, spec ChildSpec) bool {
	_, err := s.Start(ctx, spec)
	if err != nil {
		s.close(ctx, &Escalation{Supervisor: ctx.Self().Id, Child: spec.Name, Reason: err})
	}
	return err == nil
}

// exited restarts the child, or gives up after too many restarts.
func (s *supervisor) exited(ctx actor.Context, exit *Exit) {
	if s.options.OnExit != nil && (!exit.Asked || exit.Err != nil) {
		s.options.OnExit(*exit)
	}
	switch {
	case s.closing:
		s.stopLast(ctx)
	case s.tooMany(time.Now()):
		s.close(ctx, &Escalation{
			Supervisor: ctx.Self().Id, Child: exit.Name, Reason: exit.Err,
			Restarts: len(s.restarts), Period: s.options.Period,
		})
	default:
		i := slices.IndexFunc(s.specs, func(spec ChildSpec) bool { return spec.Name == exit.Name })
		s.start(ctx, s.specs[i])
	}
}

// tooMany counts a restart, and reports whether that is one too many.
func (s *supervisor) tooMany(now time.Time) bool {
	s.restarts = slices.DeleteFunc(s.restarts, func(t time.Time) bool { return now.Sub(t) > s.options.Period })
	s.restarts = append(s.restarts, now)
	return len(s.restarts) > s.options.Intensity
}

// close stops the children. The first call decides how the supervisor ends.
func (s *supervisor) close(ctx actor.Context, because *Escalation) {
	if !s.closing {
		s.closing, s.escalates = true, because
		s.stopLast(ctx)
	}
}

// stopLast stops the last child that is left; that child's Exit calls it again. With no child left it ends the
// supervisor.
func (s *supervisor) stopLast(ctx actor.Context) {
	for _, spec := range slices.Backward(s.specs) {
		if s.PID(spec.Name) != nil {
			s.Stop(ctx, spec.Name)
			return
		}
	}
	if s.escalates != nil {
		panic(s.escalates)
	}
	Goodbye(ctx)
}

// Escalation is the error of a supervisor that gave up. Its children have stopped.
type Escalation struct {
	// Supervisor is the id of its PID.
	Supervisor string
	// Child is the child that ended or did not start. Reason is why; nil after a goodbye.
	Child  string
	Reason error
	// Restarts is the number of restarts within Period; 0 if the child could not be started.
	Restarts int
	Period   time.Duration
}

func (e *Escalation) Error() string {
	if e.Restarts == 0 {
		return fmt.Sprintf("supervisor %s gave up: child %q: %v", e.Supervisor, e.Child, e.Reason)
	}
	return fmt.Sprintf("supervisor %s gave up: restart %d within %v: child %q: %v",
		e.Supervisor, e.Restarts, e.Period, e.Child, e.Reason)
}

// Unwrap returns the Reason.
func (e *Escalation) Unwrap() error { return e.Reason }

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
	// PID is the PID of the ended incarnation. Keeping it keeps the dead actor in memory.
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
