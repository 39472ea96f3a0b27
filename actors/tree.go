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
//	 └ node          supervisor
//	    ├ runs        parent of the run actors, each of them that of its tasks' and its sub-runs'
//	    ├ subscribers parent of the subscriber actors
//	    └ journal     keeps the loops alive that the journal feeds
func (s *System) spawnTree() {
	s.top = s.node.Root().Spawn(s.node.Props(func() actor.Actor {
		return &topActor{Children: supervision.NewChildren(s.node), system: s}
	}))
	for range staticActors {
		<-s.up
	}
}

// staticActors is how many children the node's supervisor has.
const staticActors = 3

// isUp says that a static actor has started. It must not block when one is started again.
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
				supervision.ChildSpec{Name: "subscribers", Shutdown: s.config.CancelHard, New: s.newSubscribers},
				supervision.ChildSpec{Name: "journal", Shutdown: s.config.CancelHard,
					New: func() actor.Actor { return &journalActor{system: s} }})
		},
	})
	if err != nil {
		t.nodeGone(c, supervision.Exit{Err: err})
	}
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

// finishLost has every run ended whose actor's supervisor is gone.
func (s *System) finishLost(why error) {
	s.mu.Lock()
	var lost []*activeRun
	for _, r := range s.live {
		if r.parent == nil && r.isUp() { // one that is not will be started by the next supervisor
			lost = append(lost, r)
		}
	}
	s.mu.Unlock()
	for _, r := range lost {
		s.bury(r, why)
	}
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
		s.rest()
	}
}

var (
	errClosing  = errors.New("it is shutting down")
	errShutdown = messages.Errorf(messages.Code(messages.CauseShutdown), "the node shut down before the run was done")
)

// Close takes no more runs, waits for the active ones until ctx is done or the drain time has passed, ends the rest as
// failed by shutdown, and stops every actor. It does not wait for runs that wait for people: they are ended at once.
// Give it a context of its own: the one that ended the program is done. It returns nil when no run had to be ended that
// was at work, and says so when the journal did not take a run's terminal.
func (s *System) Close(ctx context.Context) error {
	s.refuse(errClosing)
	err := s.drain(ctx)
	s.node.Root().Send(s.top, &stopTree{})
	<-s.gone
	if unwritten := s.abandonLive(); unwritten > 0 {
		err = messages.Errorf(messages.Code(messages.CauseJournalUnavailable),
			"the journal did not take the terminals of %d runs; the next node that opens it will end them", unwritten)
	}
	s.end()
	s.relay.ring("") // nobody rings it any more
	s.node.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*time.Timer{s.sweeper, s.looker} {
		if t != nil {
			t.Stop()
		}
	}
	return err
}

// abandonLive lets go of the runs that are still active when every actor has ended, and returns how many there are: the
// journal does not take their events.
func (s *System) abandonLive() int {
	left := s.all()
	for _, r := range left {
		r.end(errShutdown)
		r.log.starve(errClosedJournal(r.id))
		r.detach()
		s.forget(r)
	}
	return len(left)
}

func (s *System) drain(ctx context.Context) error {
	s.tellRuns(&drainRuns{waiting: true})
	patience := time.NewTimer(s.config.Drain)
	defer patience.Stop()
	select {
	case <-s.idle:
		return s.ended()
	case <-ctx.Done():
	case <-patience.C:
	}
	s.tellRuns(&drainRuns{})
	patience.Reset(2*s.config.CancelHard + 4*grace)
	select {
	case <-s.idle:
	case <-patience.C:
	}
	return s.ended()
}

// ended says whether Close had to end runs.
func (s *System) ended() error {
	if s.counts.shutdown.Load() == 0 {
		return nil
	}
	return messages.Errorf(messages.Code(messages.CauseShutdown), "runs were still active and were ended")
}

// stood is told when a run begins or ends to wait for people. A node that shuts down does not wait with it.
func (s *System) stood(r *activeRun, waits bool) {
	s.mu.Lock()
	closing := s.closed != nil
	s.mu.Unlock()
	if closing && waits {
		s.tellRuns(&drainRuns{waiting: true})
	}
	if !waits {
		s.tellRuns(&watchRun{r}) // its clocks run again
	}
}
