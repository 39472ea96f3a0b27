package supervision

import (
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Options are a supervisor's. The zero value allows no restart.
type Options struct {
	// More than Intensity restarts within Period, of all children together, and the supervisor gives up.
	Intensity int
	Period    time.Duration
	// OnExit is told, in the supervisor's Receive, of each end that was not asked for, and of each child that did not
	// stop well when it was asked. It may be nil.
	OnExit func(Exit)
}

// Shutdown stops the children in reverse start order, each awaited or abandoned; then the supervisor says goodbye.
// [Children.Stop] sends it to a child that is a supervisor.
type Shutdown struct{ NoDeadLetterLog }

type supervisor struct {
	Children
	options   Options
	restarts  []time.Time // within the period
	specs     []ChildSpec
	closing   bool        // the children stop one by one, the last first
	escalates *Escalation // when closing is done; nil is a goodbye
}

// NewSupervisor returns a supervisor, one for one, of a node's static children. It starts them in this order and
// restarts each that ends. If one cannot be started, or too many are restarted, it stops the others in reverse order
// and fails with an *[Escalation], which its own parent finds in the Exit. [Shutdown] stops a supervisor; the library's
// Stop ends its children in no order.
func NewSupervisor(n *Node, o Options, specs ...ChildSpec) actor.Actor {
	return &supervisor{Children: Children{Node: n}, options: o, specs: specs}
}

// Receive implements [actor.Actor].
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

// start starts the child, or gives up.
func (s *supervisor) start(ctx actor.Context, spec ChildSpec) bool {
	_, err := s.Start(ctx, spec)
	if err != nil {
		s.close(ctx, &Escalation{Supervisor: ctx.Self().Id, Child: spec.Name, Reason: err})
	}
	return err == nil
}

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

// tooMany counts a restart and reports whether it is one too many.
func (s *supervisor) tooMany(now time.Time) bool {
	s.restarts = slices.DeleteFunc(s.restarts, func(t time.Time) bool { return now.Sub(t) > s.options.Period })
	s.restarts = append(s.restarts, now)
	return len(s.restarts) > s.options.Intensity
}

// close stops the children. What it was first called for decides how the supervisor ends.
func (s *supervisor) close(ctx actor.Context, because *Escalation) {
	if !s.closing {
		s.closing, s.escalates = true, because
		s.stopLast(ctx)
	}
}

// stopLast stops the last child there is; its Exit follows. When there is none, the supervisor ends.
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

// Escalation is the failure of a supervisor that gave up, after it has stopped its children in order.
type Escalation struct {
	// Supervisor is the id of its PID.
	Supervisor string
	// Child is the one that was too much, and Reason its end; nil if it said goodbye.
	Child  string
	Reason error
	// Restarts is how many restarts were asked for within Period; 0 if the child could not be started.
	Restarts int
	Period   time.Duration
}

// Error names the supervisor, the child and the reason.
func (e *Escalation) Error() string {
	if e.Restarts == 0 {
		return fmt.Sprintf("supervisor %s gave up: child %q: %v", e.Supervisor, e.Child, e.Reason)
	}
	return fmt.Sprintf("supervisor %s gave up: restart %d within %v: child %q: %v",
		e.Supervisor, e.Restarts, e.Period, e.Child, e.Reason)
}

// Unwrap returns the Reason.
func (e *Escalation) Unwrap() error { return e.Reason }
