package actors

import (
	"context"
	"strconv"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Delivery is what a subscribed actor receives. Its Message is a messages.Event or, at the end, a SubscriptionEnd.
// The actor calls Task.Ack after handling each. At most as many deliveries as there are credits wait in its mailbox.
type Delivery = supervision.TaskMessage

// SubscriptionEnd ends a subscription. Err is nil after the terminal, and otherwise the reason.
type SubscriptionEnd struct {
	Run messages.RunID
	Err error
}

// Subscription delivers a run's events to an actor.
type Subscription struct {
	system *System
	pid    *actor.PID
}

// Close ends the subscription. Deliveries that are already in the mailbox still arrive.
func (s *Subscription) Close() { s.system.node.Root().Send(s.pid, &unsubscribe{}) }

// unsubscribe asks a subscriber to end.
type unsubscribe signal

// Subscribe delivers the run's events past the cursor to the actor, in order, each as a [*Delivery]. At most credits
// of them are unacknowledged. A slow actor gets merged deltas. The subscription ends with the terminal, with Close,
// or with the actor.
func (s *System) Subscribe(to *actor.PID, run messages.RunID, after uint64, credits int) (*Subscription, error) {
	switch {
	case credits < 1:
		return nil, messages.InvalidInput("a subscription needs at least one credit, not %d", credits)
	case to == nil || !s.node.Owns(to):
		return nil, messages.InvalidInput("%v is not a live actor of this System; set Config.ActorSystem to your own actor system", to)
	}
	select {
	case <-s.stopped:
		return nil, messages.Errorf(messages.CodeUnavailable, "the node takes no more subscriptions: %v", errClosing)
	default:
	}
	ctx, cancel := context.WithTimeout(s.ctx, log.ReadTimeout)
	defer cancel()
	if _, err := s.State(ctx, run); err != nil {
		return nil, err
	}
	name := strconv.FormatInt(s.counts.subscriptions.Add(1), 10)
	subs := s.subs.Load()
	s.node.Root().Send(subs, &subscribe{name: name, to: to, run: run, after: after, credits: credits})
	return &Subscription{s, actor.NewPID(subs.Address, subs.Id+"/"+name)}, nil
}

// subscribe is a request for a subscription, and then the order of its subscriber.
type subscribe struct {
	supervision.NoDeadLetterLog
	name    string
	to      *actor.PID
	run     messages.RunID
	after   uint64
	credits int
}

// subscribersActor is the parent of the subscriber actors.
type subscribersActor struct {
	*supervision.Children
	system *System
}

func (s *System) newSubscribers() actor.Actor {
	return &subscribersActor{&supervision.Children{Node: s.node}, s}
}

// Receive starts a subscriber for each subscription.
func (a *subscribersActor) Receive(c actor.Context) {
	if _, handled := a.Children.Receive(c); handled {
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		a.system.subs.Store(c.Self())
		a.system.actorStarted()
	case *subscribe:
		_, err := a.Start(c, supervision.ChildSpec{
			Name: m.name, Shutdown: a.system.config.CancelSoft,
			New: func() actor.Actor { return &subscriber{system: a.system, order: m} },
		})
		if err != nil {
			c.Send(m.to, &Delivery{Message: SubscriptionEnd{m.run, err}})
		}
	}
}

// subscriber owns one subscription. Its routine reads the log by cursor and waits for credits, so a slow actor costs
// the run nothing and its mailbox stays short. The SubscriptionEnd comes last and takes no credit.
type subscriber struct {
	system  *System
	order   *subscribe
	pull    *supervision.Routine
	endSent bool
}

// Receive ends the subscription when its reader, its routine or its owner ends.
func (a *subscriber) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		c.Watch(a.order.to)
		o := a.order
		a.pull = a.system.node.Go(context.Background(), "subscription "+o.name, c.Self(), o.to, o.credits, a.run)
	case *supervision.TaskEnded:
		a.end(c, m.Err)
		supervision.Goodbye(c)
	case *unsubscribe:
		a.pull.Cancel(context.Canceled)
	case *actor.Terminated:
		if m.Who.Id == a.order.to.Id {
			a.endSent = true
			supervision.Goodbye(c)
		}
	case *actor.Stopping:
		a.pull.Cancel(context.Canceled)
		a.end(c, context.Canceled)
	}
}

func (a *subscriber) end(c actor.Context, err error) {
	if !a.endSent {
		a.endSent = true
		c.Send(a.order.to, &Delivery{Message: SubscriptionEnd{a.order.run, err}})
	}
}

// run sends the run's events to the subscriber, each against a credit.
func (a *subscriber) run(ctx context.Context, t *supervision.Routine) error {
	for e, err := range a.system.Events(ctx, a.order.run, a.order.after) {
		if err != nil {
			return err
		}
		if err := t.Send(e); err != nil {
			return err
		}
	}
	return nil
}
