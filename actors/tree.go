package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// topActor is above the node's supervisor. When that gives up, the node has failed, and topActor ends every run.
type topActor struct {
	*supervision.Children
	system *System
}

const supervisorName = "node"

// spawnTree starts the node's actors:
//
//	top
//	 └ node          supervisor
//	    ├ runs        parent of the run actors; tasks and sub-runs are below their run
//	    ├ subscribers parent of the subscriber actors
//	    └ journal     keeps the loops that work for the journal alive
func (s *System) spawnTree() {
	s.top = s.node.Root().Spawn(s.node.Props(func() actor.Actor {
		return &topActor{Children: &supervision.Children{Node: s.node}, system: s}
	}))
	for range staticActors {
		<-s.started
	}
}

// staticActors is the number of children of the node's supervisor.
const staticActors = 3

// actorStarted reports that a static actor has started. It must not block when one starts again.
func (s *System) actorStarted() {
	select {
	case s.started <- struct{}{}:
	default:
	}
}

// stopTree asks the top actor to stop the supervisor.
type stopTree signal

// Receive ends the system when the supervisor gives up.
func (t *topActor) Receive(c actor.Context) {
	if exit, handled := t.Children.Receive(c); handled {
		if exit != nil {
			t.nodeEnded(c, *exit)
		}
		return
	}
	switch c.Message().(type) {
	case *actor.Started:
		t.start(c)
	case *stopTree: // nodeEnded follows
		t.Stop(c, supervisorName)
	case *actor.Stopping:
		t.system.runs.refuse(errTopStopped) // unless Close was called before
	case *actor.Stopped:
		if t.system.runs.closedBy(errTopStopped) {
			t.system.log.Error("the node failed", zap.Error(errTopStopped))
			t.system.owner.finishLost(errTopStopped)
		}
		close(t.system.stopped)
	}
}

// start starts the supervisor of runs, subscribers and journal loops.
func (t *topActor) start(c actor.Context) {
	s := t.system
	_, err := t.Start(c, supervision.ChildSpec{
		Name: supervisorName, Shutdown: supervision.Infinity,
		New: func() actor.Actor {
			return supervision.NewSupervisor(s.node, supervision.Options{Intensity: 5, Period: 10 * time.Second, OnExit: s.exited},
				supervision.ChildSpec{Name: "runs", Shutdown: s.config.CancelHard + 2*grace, New: s.newRuns},
				supervision.ChildSpec{Name: "subscribers", Shutdown: s.config.CancelHard, New: s.newSubscribers},
				supervision.ChildSpec{Name: "journal", Shutdown: s.config.CancelHard,
					New: func() actor.Actor { return &journalActor{system: s} }})
		},
	})
	if err != nil {
		t.nodeEnded(c, supervision.Exit{Err: err})
	}
}

// exited logs the end of a static actor. The supervisor restarts it, unless that happens too often.
func (s *System) exited(exit supervision.Exit) {
	s.log.Error("an actor of the node ended", zap.String("actor", exit.Name), zap.Error(exit.Err))
}

var errTopStopped = messages.Errorf(messages.CauseError, "the node's top actor was stopped from outside: start the node again")

// nodeEnded handles the end of the supervisor: after a Shutdown nothing is left; after an escalation it ends every
// run.
func (t *topActor) nodeEnded(c actor.Context, exit supervision.Exit) {
	if exit.Err != nil {
		t.system.log.Error("the node failed", zap.Error(exit.Err))
		t.system.runs.refuse(exit.Err)
		t.system.owner.finishLost(exit.Err)
	}
	supervision.Goodbye(c)
}

// runsActor is the parent of the actors of top-level runs, and settles a run whose actor has ended. It is also the
// watchdog of all runs: it asks a run that is past a limit to end, and stops the actor of one that does not. Only
// Receive touches its fields.
type runsActor struct {
	*supervision.Children
	system *System
	watch  map[messages.RunID]*watched
	timer  *time.Timer
	due    time.Time // when the timer fires, or zero
	// closing: the node shuts down, and no longer waits for runs.
	closing bool
}

// watched is a run under the watchdog.
type watched struct {
	run *activeRun
	// requested is when the run was asked to end, or zero. From then on it has the hard limit and some grace.
	requested time.Time
	// stopped: its actor did not answer and was stopped.
	stopped bool
}

type (
	startRun  notice[*activeRun]
	watchRun  notice[*activeRun] // a sub-run's actor has started, or a run's clocks run again
	forgetRun notice[*activeRun] // a sub-run has ended
	cancelFor struct {
		run *activeRun
		cancelRun
	}
	checkLimits signal
	// drainRuns ends all runs or, if its value is true, only those that wait for people.
	drainRuns notice[bool]
)

// grace is how much longer than the hard limit a run's actor may take to answer.
const grace = time.Second

func (s *System) newRuns() actor.Actor {
	return &runsActor{Children: &supervision.Children{Node: s.node}, system: s, watch: map[messages.RunID]*watched{}}
}

// sendToRuns sends a message to the runsActor.
func (s *System) sendToRuns(message any) { s.node.Root().Send(s.runsPID.Load(), message) }

// Receive starts and watches the runs. After a restart it first ends the runs that its predecessor lost.
func (a *runsActor) Receive(c actor.Context) {
	if exit, handled := a.Children.Receive(c); handled {
		if exit != nil {
			if w := a.watch[messages.RunID(exit.Name)]; w != nil {
				delete(a.watch, w.run.id)
				a.system.runEnded(w.run, *exit)
			}
		}
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		a.system.runsPID.Store(c.Self()) // after an abandonment the actor has another name
		a.system.owner.finishLost(supervision.ErrKilled)
		a.system.actorStarted()
	case *startRun:
		a.watch[m.about.id] = &watched{run: m.about}
		a.system.spawnRun(c, a.Children, m.about)
		a.watchLimits(c, m.about)
	case *watchRun:
		if a.watch[m.about.id] == nil && m.about.parent != nil {
			a.watch[m.about.id] = &watched{run: m.about}
		}
		a.watchLimits(c, m.about)
	case *forgetRun:
		delete(a.watch, m.about.id)
	case *cancelFor:
		a.cancel(c, m)
	case *checkLimits:
		a.checkLimits(c)
	case *drainRuns:
		a.drain(c, m.about)
	case *actor.Stopping:
		a.stopTimer()
	}
}

// watchLimits checks the run when its next limit is due, or at once if the node no longer waits for runs.
func (a *runsActor) watchLimits(c actor.Context, r *activeRun) {
	deadline, _ := a.limit(r)
	a.arm(c, deadline)
	if w := a.watch[r.id]; a.closing && w != nil {
		a.shutDown(c, w)
	}
}

// limit returns the time of the run's next limit, and its cause.
func (a *runsActor) limit(r *activeRun) (time.Time, messages.Code) {
	deadline, cause := r.clock.due(r.log.Updated())
	if deadline == 0 {
		return time.Time{}, ""
	}
	return log.Origin.Add(deadline), cause
}

// arm starts the timer, unless it fires earlier already.
func (a *runsActor) arm(c actor.Context, deadline time.Time) {
	if deadline.IsZero() || !a.due.IsZero() && !deadline.Before(a.due) {
		return
	}
	a.stopTimer()
	root, self := a.system.node.Root(), c.Self()
	a.due = deadline
	a.timer = time.AfterFunc(max(time.Until(deadline), 10*time.Millisecond), func() { root.Send(self, &checkLimits{}) })
}

func (a *runsActor) stopTimer() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.due = time.Time{}
}

// checkLimits asks every run that is past a limit to end, and stops the actors of those that did not.
func (a *runsActor) checkLimits(c actor.Context) {
	a.stopTimer()
	now := time.Now()
	var next time.Time
	for _, w := range a.watch {
		if deadline := a.check(c, w, now); !deadline.IsZero() && (next.IsZero() || deadline.Before(next)) {
			next = deadline
		}
	}
	a.arm(c, next)
}

// check applies the run's limits, and returns when to look again.
func (a *runsActor) check(c actor.Context, w *watched, now time.Time) time.Time {
	patience := a.system.config.CancelHard + grace
	switch {
	case w.stopped:
		return time.Time{}
	case !w.requested.IsZero() && now.Sub(w.requested) >= patience && len(w.run.log.OpenChildren()) > 0:
		w.requested = now // its children have their own limits
		return now.Add(patience)
	case !w.requested.IsZero() && now.Sub(w.requested) >= patience:
		w.stopped = true
		w.run.end(errEnding)
		a.stopRun(c, w.run)
		return time.Time{}
	case !w.requested.IsZero():
		return w.requested.Add(patience)
	}
	deadline, cause := a.limit(w.run)
	if deadline.IsZero() || now.Before(deadline) {
		return deadline
	}
	w.requested = now
	w.run.post(&expireRun{about: cause})
	return now.Add(patience)
}

// stopRun has a run's actor stopped by its parent, which abandons it if it does not stop.
func (a *runsActor) stopRun(c actor.Context, r *activeRun) {
	if r.parent == nil {
		a.Stop(c, string(r.id))
	} else {
		r.parent.post(&stopChild{about: r.id})
	}
}

func (a *runsActor) cancel(c actor.Context, m *cancelFor) {
	if !m.waiting { // else it goes on if it works
		a.noteRequest(c, m.run)
	}
	cancel := m.cancelRun
	m.run.post(&cancel)
}

// noteRequest records that the run was asked to end.
func (a *runsActor) noteRequest(c actor.Context, r *activeRun) {
	if w := a.watch[r.id]; w != nil && w.requested.IsZero() {
		w.requested = time.Now()
		a.arm(c, w.requested.Add(a.system.config.CancelHard+grace))
	}
}

// drain shuts down all runs, or only those that wait for people.
func (a *runsActor) drain(c actor.Context, waiting bool) {
	a.closing = a.closing || !waiting
	for _, w := range a.watch {
		if !waiting || w.run.clock.waits.Load() {
			a.shutDown(c, w)
		}
	}
}

// shutDown ends a run or hands it over, once. A sub-run that is handed over follows its parent.
func (a *runsActor) shutDown(c actor.Context, w *watched) {
	switch {
	case !w.requested.IsZero():
	case !a.system.config.HandOver:
		a.noteRequest(c, w.run)
		w.run.post(&expireRun{about: messages.CauseShutdown})
	case w.run.parent == nil:
		a.noteRequest(c, w.run)
		w.run.post(&leaveRun{})
	}
}
