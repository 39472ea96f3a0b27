package actors

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// runsActor is the parent of all run actors. It writes the terminal of a run whose actor could not, and it is the
// watchdog: it asks runs that are past their limits to end, and ends those that do not answer.
type runsActor struct {
	*supervision.Children
	system *System
	watch  map[messages.RunID]*watched
	timer  *time.Timer
	due    time.Time // when the timer fires
}

// watched is a run under the watchdog's eyes.
type watched struct {
	run *activeRun
	// asked is when the run was told to end; it has the hard limit and some grace to do so.
	asked time.Time
	// stopped says that its actor did not answer and was stopped.
	stopped bool
}

type (
	startRun  struct{ run *activeRun }
	cancelFor struct {
		id messages.RunID
		cancelRun
	}
	lookAround struct{}
	drainRuns  struct{}
	runIdle    struct {
		id   messages.RunID
		exit supervision.Exit
	}
	runOverdue runIdle
)

func (startRun) IgnoreDeadLetterLogging()   {}
func (cancelFor) IgnoreDeadLetterLogging()  {}
func (lookAround) IgnoreDeadLetterLogging() {}
func (drainRuns) IgnoreDeadLetterLogging()  {}
func (runIdle) IgnoreDeadLetterLogging()    {}
func (runOverdue) IgnoreDeadLetterLogging() {}

// grace is how much longer than the hard limit a run's actor may take to answer.
const grace = time.Second

func (a *runsActor) Receive(c actor.Context) {
	if exit, handled := a.Children.Receive(c); handled {
		if exit != nil {
			a.runGone(c, *exit)
		}
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		a.system.finishLost(supervision.ErrKilled)
		a.system.isUp()
	case *startRun:
		a.start(c, m.run)
	case *cancelFor:
		a.cancel(c, m)
	case *lookAround:
		a.lookAround(c)
	case *drainRuns:
		a.drainAll(c)
	case *runIdle:
		a.finish(m.id, m.exit)
	case *runOverdue:
		a.giveUp(m)
	case *actor.Stopping:
		a.stopTimer()
	}
}

func (a *runsActor) start(c actor.Context, r *activeRun) {
	if r.log.current().Status.IsEnded() {
		a.system.release(r)
		return
	}
	a.watch[r.id] = &watched{run: r}
	r.pid = actor.NewPID(c.Self().Address, c.Self().Id+"/"+string(r.id))
	_, err := a.Start(c, supervision.ChildSpec{
		Name:     string(r.id),
		Shutdown: a.system.config.CancelHard + grace,
		New: func() actor.Actor {
			return &runActor{Children: supervision.NewChildren(a.system.node), system: a.system, run: r}
		},
	})
	if err != nil {
		a.finish(r.id, supervision.Exit{Name: string(r.id), Err: err})
		return
	}
	a.arm(c, earliest(r))
}

// earliest returns when the run should be looked at next.
func earliest(r *activeRun) time.Time {
	at := r.deadline
	if r.stall > 0 {
		if stalled := time.Unix(0, r.log.updated.Load()).Add(r.stall); at.IsZero() || stalled.Before(at) {
			at = stalled
		}
	}
	return at
}

func (a *runsActor) arm(c actor.Context, at time.Time) {
	if at.IsZero() || !a.due.IsZero() && !at.Before(a.due) {
		return
	}
	a.stopTimer()
	root, self := a.system.node.Root(), c.Self()
	a.due = at
	a.timer = time.AfterFunc(max(time.Until(at), 10*time.Millisecond), func() { root.Send(self, &lookAround{}) })
}

func (a *runsActor) stopTimer() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.due = time.Time{}
}

// lookAround asks every run that is past a limit to end, and stops the actors of those that were asked and did not.
func (a *runsActor) lookAround(c actor.Context) {
	a.stopTimer()
	now := time.Now()
	var next time.Time
	for _, w := range a.watch {
		if at := a.look(c, w, now); next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	a.arm(c, next)
}

func (a *runsActor) look(c actor.Context, w *watched, now time.Time) time.Time {
	patience := a.system.config.CancelHard + grace
	switch {
	case w.stopped:
		return time.Time{}
	case !w.asked.IsZero() && now.Sub(w.asked) >= patience:
		w.stopped = true
		w.run.cancel(errEnding)
		a.Stop(c, string(w.run.id))
		return time.Time{}
	case !w.asked.IsZero():
		return w.asked.Add(patience)
	}
	at := earliest(w.run)
	if at.IsZero() || now.Before(at) {
		return at
	}
	cause := messages.CauseStalled
	if !w.run.deadline.IsZero() && !now.Before(w.run.deadline) {
		cause = messages.CauseDeadline
	} else if waitsForPeople(w.run) {
		w.run.log.updated.Store(now.UnixNano())
		return earliest(w.run)
	}
	w.asked = now
	c.Send(w.run.pid, &expireRun{cause})
	return now.Add(patience)
}

// waitsForPeople reports whether the run's silence is that of somebody who has not answered yet.
func waitsForPeople(r *activeRun) bool {
	for _, in := range r.log.current().Inputs {
		if !in.Closed {
			return true
		}
	}
	return false
}

func (a *runsActor) cancel(c actor.Context, m *cancelFor) {
	w := a.watch[m.id]
	if w == nil {
		return
	}
	if w.asked.IsZero() {
		w.asked = time.Now()
		a.arm(c, w.asked.Add(a.system.config.CancelHard+grace))
	}
	cancel := m.cancelRun
	c.Send(w.run.pid, &cancel)
}

func (a *runsActor) drainAll(c actor.Context) {
	for _, w := range a.watch {
		if w.asked.IsZero() {
			w.asked = time.Now()
			c.Send(w.run.pid, &expireRun{messages.CauseShutdown})
		}
	}
	a.arm(c, time.Now().Add(a.system.config.CancelHard+grace))
}

// runGone is told that a run's actor ended. What a task of it still does is waited for, to the hard limit, before the
// terminal is written.
func (a *runsActor) runGone(c actor.Context, exit supervision.Exit) {
	id := messages.RunID(exit.Name)
	w := a.watch[id]
	if w == nil {
		return
	}
	w.run.cancel(errEnding)
	if exit.Err == nil && w.run.log.current().Status.IsEnded() {
		a.finish(id, exit)
		return
	}
	root, self := a.system.node.Root(), c.Self()
	if errors.Is(exit.Err, supervision.ErrAbandoned) {
		a.stopOrphans(w.run)
	}
	work := w.run.attempt()
	if work != nil && work.running() {
		work.work.Load().OnEnd(func() { root.Send(self, &runIdle{id, exit}) })
		overdue := runOverdue{id, exit}
		time.AfterFunc(a.system.config.CancelHard, func() { root.Send(self, &overdue) })
		return
	}
	a.finish(id, exit)
}

// stopOrphans stops the children of a run actor that was abandoned: nobody else tells them.
func (a *runsActor) stopOrphans(r *activeRun) {
	node := a.system.node
	for _, t := range r.job.Tasks {
		pid := r.taskPID(t.Name)
		if !node.Alive(pid) {
			continue
		}
		node.Root().Stop(pid)
		time.AfterFunc(a.system.config.CancelHard, func() {
			if node.Alive(pid) {
				node.Abandon(nil, pid)
			}
		})
	}
}

func (a *runsActor) giveUp(m *runOverdue) {
	w := a.watch[m.id]
	if w == nil {
		return
	}
	if work := w.run.attempt(); work.running() {
		work.work.Load().Abandon()
	}
	a.finish(m.id, m.exit)
}

// finish writes the run's terminal, which is a no-op where the run wrote its own, and forgets the run.
func (a *runsActor) finish(id messages.RunID, exit supervision.Exit) {
	w := a.watch[id]
	if w == nil {
		return
	}
	delete(a.watch, id)
	if !w.run.log.current().Status.IsEnded() && !w.run.log.dropped() {
		a.system.log.Error("run actor ended without a terminal", zap.String("run", string(id)), zap.Error(exit.Err))
		a.system.finishRun(w.run, exit.Err)
	}
	a.system.release(w.run)
}
