package actors

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// topActor stands above the node's supervisor: when that gives up, the node has failed, and every run gets its terminal.
type topActor struct {
	*supervision.Children
	system *System
}

const supervisorName = "node"

// spawnTree starts the node's actors:
//
//	top
//	 └ node          supervisor, one for one
//	    ├ runs        parent of the run actors
//	    └ subscribers parent of the subscriber actors
func (s *System) spawnTree() {
	s.top = s.node.Root().Spawn(s.node.Props(func() actor.Actor {
		return &topActor{Children: supervision.NewChildren(s.node), system: s}
	}))
	node := s.top.Id + "/" + supervisorName
	s.runs = actor.NewPID(s.top.Address, node+"/runs")
	s.subs = actor.NewPID(s.top.Address, node+"/subscribers")
	<-s.up
	<-s.up
}

// isUp says that runs or subscribers has started. It must not block when they are started again.
func (s *System) isUp() {
	select {
	case s.up <- struct{}{}:
	default:
	}
}

type stopTree struct{}

func (stopTree) IgnoreDeadLetterLogging() {}

func (t *topActor) Receive(c actor.Context) {
	if exit, handled := t.Children.Receive(c); handled {
		if exit != nil {
			t.nodeGone(c, *exit)
		}
		return
	}
	switch c.Message().(type) {
	case *actor.Started:
		t.start(c)
	case *stopTree: // nodeGone follows
		t.Stop(c, supervisorName)
	case *actor.Stopped:
		close(t.system.gone)
	}
}

func (t *topActor) start(c actor.Context) {
	s := t.system
	_, err := t.Start(c, supervision.ChildSpec{
		Name: supervisorName, Shutdown: supervision.Infinity,
		New: func() actor.Actor {
			return supervision.NewSupervisor(s.node, supervision.Options{Intensity: 5, Period: 10 * time.Second},
				supervision.ChildSpec{Name: "runs", Shutdown: s.config.CancelHard + 2*grace, New: s.newRuns},
				supervision.ChildSpec{Name: "subscribers", Shutdown: s.config.CancelHard, New: s.newSubscribers})
		},
	})
	if err != nil {
		t.nodeGone(c, supervision.Exit{Err: err})
	}
}

func (s *System) newRuns() actor.Actor {
	return &runsActor{Children: supervision.NewChildren(s.node), system: s, watch: map[messages.RunID]*watched{}}
}

// nodeGone ends what is left: after a Shutdown nothing, after an escalation every run.
func (t *topActor) nodeGone(c actor.Context, exit supervision.Exit) {
	if exit.Err != nil {
		t.system.log.Error("the node failed", zap.Error(exit.Err))
		t.system.refuse(exit.Err)
		t.system.finishLost(exit.Err)
	}
	supervision.Goodbye(c)
}

// refuse has no more runs accepted.
func (s *System) refuse(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return
	}
	s.closed = why
	if len(s.live) == 0 {
		close(s.idle)
	}
}

var (
	errClosed   = errors.New("it is shutting down")
	errShutdown = messages.Errorf(messages.Code(messages.CauseShutdown), "the node shut down before the run was done")
)

// Close takes no more runs, waits for the active ones until ctx is done or the drain time has passed, ends the rest as
// failed by shutdown, and stops every actor. It returns nil when no run had to be ended.
func (s *System) Close(ctx context.Context) error {
	s.refuse(errClosed)
	err := s.drain(ctx)
	s.node.Root().Send(s.top, &stopTree{})
	<-s.gone
	s.finishLost(errShutdown)
	s.node.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeper != nil {
		s.sweeper.Stop()
		s.sweeper = nil
	}
	return err
}

func (s *System) drain(ctx context.Context) error {
	patience := time.NewTimer(s.config.Drain)
	defer patience.Stop()
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
	case <-patience.C:
	}
	s.node.Root().Send(s.runs, &drainRuns{})
	patience.Reset(2*s.config.CancelHard + 4*grace)
	select {
	case <-s.idle:
	case <-patience.C:
	}
	return messages.Errorf(messages.Code(messages.CauseShutdown), "runs were still active and were ended")
}
