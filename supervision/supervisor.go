package supervision

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Strategy says which children a supervisor restarts together with the one that ended.
type Strategy uint8

// The strategies, as in OTP.
const (
	OneForOne  Strategy = iota // none
	OneForAll                  // all
	RestForOne                 // those started after it
)

// Options are a supervisor's. The zero value works: one for one, one restart within 5 s.
type Options struct {
	Strategy Strategy
	// More than Intensity restarts within Period, of all children together, and the supervisor gives up. 0 is 1; a negative
	// one allows none.
	Intensity int
	// Period is 5 s if it is 0.
	Period time.Duration
	// OnExit is told, in the supervisor's Receive, of each end that was not asked for, of each child that did not stop well
	// when it was, and of each respawn that failed (an Exit without a PID). It may be nil.
	OnExit func(Exit)
}

// The messages to a supervisor may be sent as values or as pointers.

// StartChild starts a child as the last one. The answer is its *[actor.PID] or an error.
type StartChild struct{ ChildSpec }

// StopChild stops a child and forgets its spec. It works on a child that waits for its restart, too.
type StopChild struct{ Name string }

// Shutdown stops the children in reverse start order, each awaited or abandoned; then the supervisor says goodbye.
// [Children.Stop] sends it to a child that is a supervisor.
type Shutdown struct{}

// IgnoreDeadLetterLogging keeps a late one quiet.
func (StartChild) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps a late one quiet.
func (StopChild) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps a late one quiet.
func (Shutdown) IgnoreDeadLetterLogging() {}

// retry follows a respawn that failed. It goes through the mailbox, so that the child can be removed meanwhile.
type retry struct{}

// IgnoreDeadLetterLogging keeps a late one quiet.
func (retry) IgnoreDeadLetterLogging() {}

// supervisor always does the first of these that there is to do: stop the last child that must come down and wait for
// its Exit; leave; start the first child that is down.
type supervisor struct {
	Children
	options  Options
	table    table
	restarts intensity
	specs    []ChildSpec

	unsettled bool // something must come down or up
	retrying  bool
	leaving   bool
	escalates *Escalation // on leaving
}

// NewSupervisor returns a supervisor of the children, which it starts in this order. If one cannot be started, if there
// are too many restarts, or if a significant child ends badly, it stops all children in reverse order and fails with an
// *[Escalation], which its own parent finds in the Exit. When a significant child ends well, it does the same and says
// [Goodbye]. A supervisor is stopped by [Shutdown]; the library's Stop ends its children in no order.
func NewSupervisor(n *Node, o Options, specs ...ChildSpec) actor.Actor {
	return &supervisor{Children: Children{Node: n}, options: o, restarts: newIntensity(o), specs: specs}
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
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.begin(ctx)
	case StartChild:
		s.startChild(ctx, m.ChildSpec)
	case *StartChild:
		s.startChild(ctx, m.ChildSpec)
	case StopChild:
		s.stopChild(ctx, m.Name)
	case *StopChild:
		s.stopChild(ctx, m.Name)
	case Shutdown, *Shutdown:
		s.leave(nil)
		s.settle(ctx)
	case retry:
		s.retrying = false
		s.settle(ctx)
	}
}

func (s *supervisor) begin(ctx actor.Context) {
	for _, spec := range s.specs {
		if _, err := s.admit(ctx, spec); err != nil {
			s.leave(&Escalation{Supervisor: ctx.Self().Id, Child: spec.Name, Reason: err})
			s.settle(ctx)
			break
		}
	}
	s.specs = nil
}

func (s *supervisor) startChild(ctx actor.Context, spec ChildSpec) {
	pid, err := s.admit(ctx, spec)
	if ctx.Sender() == nil {
		return
	}
	if err != nil {
		ctx.Respond(err)
	} else {
		ctx.Respond(pid)
	}
}

// admit takes a new child in and starts it.
func (s *supervisor) admit(ctx actor.Context, spec ChildSpec) (*actor.PID, error) {
	if s.leaving {
		return nil, fmt.Errorf("child %q: %w", spec.Name, ErrStopping)
	}
	if s.table.byName[spec.Name] != nil {
		return nil, fmt.Errorf("child %q: %w", spec.Name, actor.ErrNameExists)
	}
	e := s.table.add(spec)
	if err := s.start(ctx, e); err != nil {
		s.table.forget(e)
		return nil, err
	}
	return s.PID(spec.Name), nil
}

func (s *supervisor) start(ctx actor.Context, e *entry) error {
	if _, err := s.Start(ctx, e.spec); err != nil {
		return err
	}
	e.up = true
	if e.spec.Restart == Temporary {
		e.spec.New = nil // it is not needed again, and may hold much
	}
	return nil
}

func (s *supervisor) stopChild(ctx actor.Context, name string) {
	e := s.table.byName[name]
	switch {
	case e == nil:
	case e.up:
		e.removed = true
		s.Stop(ctx, name)
	default:
		s.table.forget(e)
	}
}

func (s *supervisor) exited(ctx actor.Context, exit *Exit) {
	e := s.table.byName[exit.Name]
	expected := e.drain || e.removed
	if !exit.Asked || exit.Err != nil {
		s.told(exit)
	}
	e.up, e.drain = false, false
	switch {
	case !expected:
		s.ended(ctx, e, exit)
	case s.leaving || e.removed || e.spec.Restart == Temporary:
		s.table.forget(e)
	}
	s.settle(ctx)
}

func (s *supervisor) told(exit *Exit) {
	if s.options.OnExit != nil {
		s.options.OnExit(*exit)
	}
}

// ended decides about a child that nobody meant to end.
func (s *supervisor) ended(ctx actor.Context, e *entry, exit *Exit) {
	if e.spec.Restart.respawns(exit) {
		s.restart(ctx, e, exit.Err)
		return
	}
	s.table.forget(e)
	switch {
	case !e.spec.Significant:
	case exit.Normal:
		s.leave(nil)
	default:
		s.leave(&Escalation{Supervisor: ctx.Self().Id, Child: e.spec.Name, Reason: exit.Err})
	}
}

func (s *supervisor) restart(ctx actor.Context, e *entry, reason error) {
	if s.restarts.add(time.Now()) {
		s.leave(&Escalation{
			Supervisor: ctx.Self().Id, Child: e.spec.Name, Reason: reason,
			Restarts: len(s.restarts.times), Period: s.restarts.period,
		})
		return
	}
	s.unsettled = true
	if s.options.Strategy != OneForOne {
		s.table.after(e, s.options.Strategy == OneForAll)
	}
}

func (s *supervisor) leave(because *Escalation) {
	if !s.leaving {
		s.leaving, s.escalates = true, because
		s.table.leave()
	}
}

func (s *supervisor) settle(ctx actor.Context) {
	if !s.unsettled && !s.leaving {
		return
	}
	last := s.table.lastDraining()
	switch {
	case last != nil:
		s.Stop(ctx, last.spec.Name)
	case s.leaving && s.escalates != nil:
		panic(s.escalates)
	case s.leaving:
		Goodbye(ctx)
	case !s.retrying:
		s.respawn(ctx)
	}
}

func (s *supervisor) respawn(ctx actor.Context) {
	for e := s.table.firstDown(); e != nil; e = s.table.firstDown() {
		if err := s.start(ctx, e); err != nil {
			s.told(&Exit{Name: e.spec.Name, Err: err})
			s.restart(ctx, e, err)
			s.retrying = true
			ctx.Send(ctx.Self(), retry{})
			return
		}
	}
	s.unsettled = false
}
