package supervision

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Children manages the child actors of one actor.
//
// The actor embeds it, or holds it as a field and forwards HandleFailure; it calls [Children.Receive] first in its
// own Receive. Children has no lock, so only the actor's Receive may call its methods. Children{Node: n} is ready for
// use.
type Children struct {
	Node *Node

	self    *actor.PID
	roster  roster
	leaving bool
}

// Start makes the actor and spawns it. A panic of spec.New is returned as a [*Crash]. Other errors wrap
// [actor.ErrNameExists] or [ErrStopping]. A name is free again once its Exit was returned.
func (c *Children) Start(ctx actor.Context, spec ChildSpec) (*actor.PID, error) {
	if err := c.refuse(spec); err != nil {
		return nil, fmt.Errorf("child %q: %w", spec.Name, err)
	}
	inner, err := construct(spec)
	if err != nil {
		return nil, err
	}
	c.self = ctx.Self()
	pid, err := c.Node.spawn(ctx, &guard{node: c.Node, inner: inner}, c.Node.freshName(c.self, spec.Name))
	if err != nil {
		return nil, fmt.Errorf("child %q: %w", spec.Name, err)
	}
	_, ordered := inner.(*supervisor)
	c.roster.add(&child{name: spec.Name, pid: pid, shutdown: spec.Shutdown, ordered: ordered})
	return pid, nil
}

// refuse returns why the child cannot start now, or nil.
func (c *Children) refuse(spec ChildSpec) error {
	switch {
	case spec.Name == "" || spec.New == nil:
		return errors.New("a child needs a Name and a New")
	case c.leaving:
		// the library would never end an actor that gets a child now
		return ErrStopping
	case c.roster.named(spec.Name) != nil:
		return actor.ErrNameExists
	}
	return nil
}

// construct calls spec.New, and returns a panic as an error.
func construct(spec ChildSpec) (made actor.Actor, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = crashOf(r, "New "+spec.Name)
		}
	}()
	if made = spec.New(); made == nil {
		return nil, fmt.Errorf("child %q: New returned nil", spec.Name)
	}
	return made, nil
}

// Stop asks the child to stop. Its Exit follows, by abandonment at the latest. An unknown name and a second call have
// no effect.
func (c *Children) Stop(ctx actor.Context, name string) {
	k := c.roster.named(name)
	if k == nil || k.asked || k.ended {
		return
	}
	k.asked = true
	switch {
	case k.goodbye: // it is stopping already
	case k.ordered:
		ctx.Send(k.pid, Shutdown{})
	default:
		ctx.Stop(k.pid)
	}
	c.limit(k)
}

// PID returns the PID of the child's present incarnation, or nil.
func (c *Children) PID(name string) *actor.PID {
	if k := c.roster.named(name); k != nil {
		return k.pid
	}
	return nil
}

// Len returns the number of children that have not had their Exit yet.
func (c *Children) Len() int { return len(c.roster.list) }

// Receive handles the messages about children. handled says that the actor can ignore this message. Each started
// child has exactly one Exit, after every message that the child itself sent to this actor. An actor that is stopping
// gets no more exits, and its children are abandoned if they outlast their Shutdown.
func (c *Children) Receive(ctx actor.Context) (exit *Exit, handled bool) {
	switch m := ctx.Message().(type) {
	case *actor.Stopping:
		c.leave(ctx)
	case *actor.Terminated:
		return nil, c.terminated(ctx, m.Who)
	case *goodbye:
		if k := c.roster.identified(m.who); k != nil {
			k.goodbye = true
		}
		return nil, true
	case *ended:
		c.roster.remove(m.child)
		return m.child.exit(c.Node.wasAbandoned(m.child.pid.Id)), true
	}
	return nil, false
}

// ended is what Children sends to its own actor when the library reports the end of a child. The report overtakes the
// child's earlier messages; this message does not.
type ended struct {
	NoDeadLetterLog
	child *child
}

// terminated handles the library's report about a child: the child's Exit follows after its own messages.
func (c *Children) terminated(ctx actor.Context, who *actor.PID) bool {
	k := c.roster.identified(who)
	if k == nil {
		return false
	}
	if !k.ended {
		k.ended = true
		if k.timer != nil {
			k.timer.Stop()
		}
		ctx.Send(ctx.Self(), &ended{child: k})
	}
	return true
}

// HandleFailure implements [actor.SupervisorStrategy]: it records the crash and stops the child, nothing else.
func (c *Children) HandleFailure(
	_ *actor.ActorSystem, self actor.Supervisor, who *actor.PID, _ *actor.RestartStatistics, reason, _ any,
) {
	if k := c.roster.identified(who); k != nil && k.crash == nil {
		k.crash = crashOf(reason, "")
		c.limit(k)
	}
	self.StopChildren(who)
}

// leave limits how long every child may take to stop. The library asks them to stop after this message.
func (c *Children) leave(ctx actor.Context) {
	c.leaving, c.self = true, ctx.Self()
	for _, k := range c.roster.list {
		c.limit(k)
	}
}

// limit abandons the child when its time to stop has passed. The timer bypasses the actor's mailbox, which a crash of
// the actor itself may have suspended.
func (c *Children) limit(k *child) {
	process, alive := c.Node.system.ProcessRegistry.Get(k.pid)
	if !alive || k.timer != nil || k.shutdown == Infinity {
		return
	}
	node, parent, pid := c.Node, c.self, k.pid
	k.timer = time.AfterFunc(cmp.Or(k.shutdown, DefaultShutdown), func() { node.abandon(parent, pid, process) })
}

// indexAbove is the number of children above which a roster has maps. Most actors have few children.
const indexAbove = 16

// child is one incarnation of a child actor, from its start to its Exit.
type child struct {
	name     string
	pid      *actor.PID
	shutdown time.Duration
	timer    *time.Timer // abandons the child
	crash    *Crash
	at       int  // position in roster.list
	ordered  bool // a supervisor: it gets a Shutdown instead of a stop
	asked    bool // the parent asked it to stop
	goodbye  bool // it said goodbye
	ended    bool // the library reported its end, and the Exit is on its way
}

// exit makes the child's Exit.
func (k *child) exit(abandoned bool) *Exit {
	exit := &Exit{Name: k.name, PID: k.pid, Asked: k.asked}
	switch {
	case k.crash != nil && abandoned:
		exit.Err = fmt.Errorf("%w; then %w", k.crash, ErrAbandoned)
	case k.crash != nil:
		exit.Err = k.crash
	case abandoned:
		exit.Err = ErrAbandoned
	case !k.goodbye && !k.asked:
		exit.Err = ErrKilled
	}
	return exit
}

// roster finds children by name and by id. It keeps no order.
type roster struct {
	list         []*child
	byName, byID map[string]*child
}

// add adds a child, and builds the maps when there are many.
func (r *roster) add(k *child) {
	k.at = len(r.list)
	r.list = append(r.list, k)
	switch {
	case r.byName != nil:
		r.byName[k.name], r.byID[k.pid.Id] = k, k
	case len(r.list) > indexAbove:
		r.byName, r.byID = map[string]*child{}, map[string]*child{}
		for _, k := range r.list {
			r.byName[k.name], r.byID[k.pid.Id] = k, k
		}
	}
}

// remove puts the last child of the list into the place of k.
func (r *roster) remove(k *child) {
	last := len(r.list) - 1
	r.list[k.at] = r.list[last]
	r.list[k.at].at = k.at
	r.list[last] = nil
	r.list = r.list[:last]
	delete(r.byName, k.name)
	delete(r.byID, k.pid.Id)
}

// named returns the child with the name, or nil.
func (r *roster) named(name string) *child {
	if r.byName != nil {
		return r.byName[name]
	}
	for _, k := range r.list {
		if k.name == name {
			return k
		}
	}
	return nil
}

// identified returns the child with the PID, or nil.
func (r *roster) identified(pid *actor.PID) *child {
	if r.byID != nil {
		return r.byID[pid.Id]
	}
	for _, k := range r.list {
		if k.pid.Id == pid.Id {
			return k
		}
	}
	return nil
}
