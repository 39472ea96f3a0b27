package actors

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Delivery is what a subscribed actor receives: its Message is a messages.Event, and last of all a SubscriptionEnd. The
// actor calls Task.Ack once it has handled one; as many as its credits may wait in its mailbox.
type Delivery = supervision.TaskMessage

// SubscriptionEnd closes a subscription: after the terminal with a nil Err, else with the reason.
type SubscriptionEnd struct {
	Run messages.RunID
	Err error
}

// Subscription is an actor's order for a run's events.
type Subscription struct {
	system *System
	pid    *actor.PID
}

// Close ends the subscription; what is in the mailbox already still arrives.
func (s *Subscription) Close() { s.system.node.Root().Send(s.pid, &unsubscribe{}) }

type unsubscribe struct{}

func (unsubscribe) IgnoreDeadLetterLogging() {}

// Subscribe delivers the run's events past the cursor to the actor, in order, each as a [*Delivery], with at most
// credits of them unacknowledged; a slow actor is given merged deltas. The subscription ends with the terminal, with
// Close, or with the actor.
func (s *System) Subscribe(to *actor.PID, run messages.RunID, after uint64, credits int) (*Subscription, error) {
	if credits < 1 {
		return nil, invalid("a subscription needs at least one credit, not %d", credits)
	}
	if _, err := s.State(context.Background(), run); err != nil {
		return nil, err
	}
	select {
	case <-s.gone:
		return nil, messages.Errorf(messages.CodeUnavailable, "the node takes no more subscriptions: %v", errClosed)
	default:
	}
	name := strconv.FormatInt(s.counts.subscriptions.Add(1), 10)
	s.node.Root().Send(s.subs, &subscribe{name: name, to: to, run: run, after: after, credits: credits})
	return &Subscription{s, actor.NewPID(s.subs.Address, s.subs.Id+"/"+name)}, nil
}

type subscribe struct {
	name    string
	to      *actor.PID
	run     messages.RunID
	after   uint64
	credits int
}

func (subscribe) IgnoreDeadLetterLogging() {}

// subscribersActor is the parent of the subscriber actors.
type subscribersActor struct {
	*supervision.Children
	system *System
}

func (s *System) newSubscribers() actor.Actor {
	return &subscribersActor{supervision.NewChildren(s.node), s}
}

func (a *subscribersActor) Receive(c actor.Context) {
	if _, handled := a.Children.Receive(c); handled {
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		a.system.isUp()
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

// subscriber owns one subscription. A task of its own pulls from the log by cursor and waits for credits, so that a
// slow actor costs the run nothing and nothing is pushed into a mailbox without credit.
type subscriber struct {
	system *System
	order  *subscribe
	pull   *supervision.Task
	said   atomic.Bool // the SubscriptionEnd is on its way
}

func (a *subscriber) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		c.Watch(a.order.to)
		o := a.order
		a.pull = a.system.node.Go(context.Background(), "subscription "+o.name, c.Self(), o.to, o.credits, a.run)
	case *supervision.TaskEnded, *unsubscribe:
		supervision.Goodbye(c)
	case *actor.Terminated:
		if m.Who.Id == a.order.to.Id {
			supervision.Goodbye(c)
		}
	case *actor.Stopping:
		a.pull.Cancel(context.Canceled)
		if a.said.CompareAndSwap(false, true) {
			c.Send(a.order.to, &Delivery{Message: SubscriptionEnd{a.order.run, context.Canceled}})
		}
	}
}

func (a *subscriber) run(ctx context.Context, t *supervision.Task) error {
	err := a.system.follow(ctx, a.order.run, a.order.after, func(e messages.Event) bool { return t.Send(e) == nil })
	if ctx.Err() != nil || !a.said.CompareAndSwap(false, true) {
		return nil
	}
	return t.Send(SubscriptionEnd{a.order.run, err})
}
