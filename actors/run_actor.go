package actors

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// runActor drives a run's machine: it passes on one message at a time, and carries out the effects.
//
// While it is alive it alone records the run's events. It is the parent of the actors of the run's tasks and
// sub-runs. Its Receive never blocks. Only Receive touches its fields.
type runActor struct {
	*supervision.Children
	system  *System
	run     *activeRun
	machine machine

	held   []*supervision.Routine // tasks whose credits are withheld while the journal is behind
	timers []*time.Timer
	left   bool
}

// journalFree: the journal has caught up a little, so credits may be returned.
type journalFree signal

// stopChild: a sub-run's actor does not answer and must be stopped.
type stopChild notice[messages.RunID]

func (s *System) newRunActor(r *activeRun) actor.Actor {
	var counts func(int64)
	if spent := s.config.Spent; spent != nil {
		counts = func(tokens int64) { spent(r.principal, tokens) }
	}
	return &runActor{Children: &supervision.Children{Node: s.node}, system: s, run: r, machine: machine{
		job: &r.job, unborn: r.unborn, node: s.config.Node, epoch: r.log.Head().Epoch + 1, soft: s.config.CancelSoft, hard: s.config.CancelHard,
		jitter: s.jitter, budgeted: r.budgeted, prices: s.config.Prices, counts: counts,
	}}
}

// Receive passes messages about children to Children, and all others to the run's step function.
func (r *runActor) Receive(c actor.Context) {
	if r.system.config.Inject != nil {
		r.system.inject(r.run, runName, c.Message(), func(e emission) { _ = r.run.log.Record(time.Now().UTC(), e.body, e.message) })
	}
	if exit, handled := r.Children.Receive(c); handled {
		if exit != nil {
			r.childEnded(c, *exit)
		}
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		root, self := r.system.node.Root(), c.Self()
		r.run.actorStarted(self)
		r.run.log.OnTrouble(func(cause messages.Code) { root.Send(self, &expireRun{about: cause}) })
		r.step(c, &runActorStarted{})
	case *supervision.TaskMessage:
		r.taskSaid(c, m)
	case *actor.Stopping:
		r.run.end(errEnding)
		r.stopTimers()
	case *startRun:
		r.system.spawnRun(c, r.Children, m.about)
	case *stopChild:
		r.Stop(c, actorOf(m.about))
	case *delivery:
		m.to <- m.answer
	case *journalFree:
		if r.release(); len(r.held) > 0 {
			r.awaitJournal(c)
		}
	case *actor.Stopped, *actor.Terminated, *actor.Restarting:
	default:
		r.step(c, m)
	}
}

// step passes a message to the machine, and carries out the effects.
func (r *runActor) step(c actor.Context, message any) {
	if r.left {
		if r.run.leaving.Load() {
			replyLeft(message, errHandedOver, errHandedOver, func(to chan<- error) { replier(to)(errHandedOver) })
		} else {
			replyLeft(message, errOver(r.run.id), errTakesNone(r.run.id), func(to chan<- error) { r.run.log.WhenDurable(0, replier(to)) })
		}
		return
	}
	now := time.Now().UTC()
	room := r.system.buffers.Get().(*stepBuffer) // pooled: there may be very many runs, and few take a step at the same time
	r.run.log.With(now, func(l *log.Ledger) {
		r.machine.ledger, l.Epoch = l, r.machine.epoch
		r.machine.effects, l.Fresh = room.effects[:0], room.fresh[:0]
		room.effects = r.machine.step(now, message)
		if open := int32(l.Fold.OpenMessages()); open > r.run.said.Swap(open) && r.machine.current != nil {
			r.machine.current.hear()
		}
		room.fresh, r.machine.effects = l.Fresh, nil
	})
	for i := range room.effects {
		r.do(c, &room.effects[i])
	}
	clear(room.effects)
	r.system.buffers.Put(room)
}

// stepBuffer is reusable memory for one step.
type stepBuffer struct {
	effects []effect
	fresh   []messages.Event
}

// replyLeft replies to messages that come after the actor has left its run: over to an answer, none to who says,
// releases or moves something. canceled replies to a cancel.
func replyLeft(message any, over, none error, canceled func(reply chan<- error)) {
	switch m := message.(type) {
	case *cancelRun:
		canceled(m.reply)
	case *answerInput:
		m.reply <- over
	case *sayRun:
		m.reply <- none
	case *releaseRun:
		m.reply <- none
	case *moveRun:
		m.reply <- none
	case *question:
		m.reply <- answer{err: errSilenced}
	case *childWanted:
		m.reply <- childStart{err: errSilenced}
	case *commitRequest:
		m.reply <- errSilenced
	case *takeMessages:
		m.reply <- answer{err: errSilenced}
	case *emission:
		replier(m.verdict)(errSilenced)
	case *refill:
		m.pay(messages.Budget{})
	case *paid:
		m.pay()
	}
}

// replier returns a function that sends to the channel, or does nothing if that is nil.
func replier(to chan<- error) func(error) {
	return func(err error) {
		if to != nil {
			to <- err
		}
	}
}

// do carries out one effect.
func (r *runActor) do(c actor.Context, e *effect) {
	root, self := r.system.node.Root(), c.Self()
	switch e.do {
	case doCall:
		r.call(c, e.attempt, e.spawn)
	case doCancel:
		r.run.end(e.err)
		r.release()
	case doCancelIt:
		e.attempt.cancel(e.err)
	case doInterrupt:
		e.attempt.interrupted()
	case doStop:
		r.stopTasks(c)
	case doAbandon:
		r.abandon(c)
	case doAfter:
		message := e.message
		if e.after <= 0 {
			root.Send(self, message)
			break
		}
		r.timers = append(r.timers, time.AfterFunc(e.after, func() { root.Send(self, message) }))
	case doWhenKept:
		r.whenKept(self, e.seq, e.message)
	case doTell:
		e.tell()
	case doKept:
		r.run.log.WhenDurable(e.seq, replier(e.reply))
	case doFollowTurn:
		of := e.message.(messages.RunID)
		r.system.retryUntilDone(func() bool { return r.system.owner.followTurn(r.run, of) })
	case doBegun:
		r.system.runs.begun(r.run)
	case doStartChild:
		r.startChild(c, e.child)
	case doWriteCanceled:
		r.writeCanceled(c, e.child)
	case doCancelChild:
		r.system.owner.cancelChild(e.child.id)
	case doFollowChild:
		child := e.child.id
		r.system.retryUntilDone(func() bool { return r.system.owner.childElsewhere(r.run, child) })
	case doHandOverChild:
		if child := r.system.runs.active(e.child.id); child != nil {
			child.post(&leaveRun{})
		}
	case doAskParent:
		r.run.askParent(e.message.(*refill))
	case doClocks:
		r.setClocks(c, e.clocks)
	case doRefused:
		r.refused(e)
	case doLeave, doHandOver:
		r.left = true
		r.run.leaving.Store(e.do == doHandOver)
		r.stopTimers()
		supervision.Goodbye(c)
	}
}

// whenKept sends the run's actor the message once the event is durable. While the journal takes nothing it waits. If
// another node owns the run, a child that waits will never start.
func (r *runActor) whenKept(self *actor.PID, seq uint64, message any) {
	root, l := r.system.node.Root(), r.run.log
	l.WhenDurable(seq, func(err error) {
		switch named, waits := message.(*childRecorded); {
		case err == nil:
			root.Send(self, message)
		case l.Dropped() == nil:
			r.system.afterPause(loopPause, func() { r.whenKept(self, seq, message) })
		case waits:
			root.Send(self, &childNotStarted{about: named.about})
		}
	})
}

func (r *runActor) refused(e *effect) {
	r.system.counts.refused.Add(1)
	r.system.log.Warn("event refused", zap.String("run", string(r.run.id)), zap.String("kind", string(e.kind)), zap.Error(e.err))
}

// call has the task's actor start the attempt.
func (r *runActor) call(c actor.Context, a *attempt, spawn bool) {
	a.run = r.run
	r.run.begin(a)
	if spawn {
		_, err := r.Start(c, supervision.ChildSpec{
			Name: a.task.Name, Shutdown: r.system.config.CancelHard,
			New: func() actor.Actor { return &taskActor{system: r.system, run: r.run} },
		})
		if err != nil {
			c.Send(c.Self(), &taskActorEnded{task: a.task.Name, err: err})
			return
		}
	}
	c.Send(r.PID(a.task.Name), &begin{about: a})
}

// childEnded handles the end of a child actor. It comes after everything that the child sent.
func (r *runActor) childEnded(c actor.Context, exit supervision.Exit) {
	if exit.Name[0] == '.' {
		if child := r.system.runs.active(r.run.id + messages.RunID(exit.Name)); child != nil {
			r.system.runEnded(child, exit)
		}
		return
	}
	ended := &taskActorEnded{task: exit.Name, err: exit.Err}
	if a := r.run.working(); a != nil && a.task.Name == exit.Name {
		ended.running = true
		root, self := r.system.node.Root(), c.Self()
		a.work.Load().OnEnd(func() { root.Send(self, &lateWorkEnded{about: a}) })
	}
	r.step(c, ended)
}

// stopTasks stops the task actors, the last one first.
func (r *runActor) stopTasks(c actor.Context) {
	for _, t := range slices.Backward(r.run.job.Tasks) {
		r.Stop(c, t.Name)
	}
}

// abandon abandons what is alive at the hard limit.
func (r *runActor) abandon(c actor.Context) {
	if a := r.run.working(); a != nil {
		a.work.Load().Abandon()
	}
	for _, t := range r.run.job.Tasks {
		if pid := r.PID(t.Name); pid != nil {
			r.system.node.Abandon(c.Self(), pid)
		}
	}
}

func (r *runActor) stopTimers() {
	for _, t := range r.timers {
		t.Stop()
	}
	r.timers = nil
}

// taskSaid passes on a task's event. It returns the task's credit, unless the journal is behind.
func (r *runActor) taskSaid(c actor.Context, m *supervision.TaskMessage) {
	r.step(c, m.Message)
	over, pressed := r.run.log.OverLimit()
	if over {
		r.step(c, &overLimit{r.run.log.MaxBytes})
	}
	if !pressed || r.run.cause() != nil {
		m.Task.Ack()
		return
	}
	r.held = append(r.held, m.Task)
	if len(r.held) == 1 {
		r.awaitJournal(c)
	}
}

// awaitJournal has the run's actor told when the journal takes the next block.
func (r *runActor) awaitJournal(c actor.Context) {
	root, self := r.system.node.Root(), c.Self()
	r.run.log.WhenDurable(r.run.log.Head().Seq+1, func(error) { root.Send(self, &journalFree{}) })
}

// release returns the withheld credits, if the journal is no longer behind.
func (r *runActor) release() {
	if _, pressed := r.run.log.OverLimit(); pressed && r.run.cause() == nil {
		return
	}
	for _, t := range r.held {
		t.Ack()
	}
	r.held = nil
}

// setClocks pauses or resumes the run's clocks. It tells the parent, since a run also waits for people while all its
// children do.
func (r *runActor) setClocks(c actor.Context, s clockState) {
	was := r.run.clock.waits.Load()
	r.run.clock.set(time.Since(log.Origin), s)
	if s.waits != was && r.run.parent != nil {
		c.Send(c.Parent(), &childWaits{id: r.run.id, waits: s.waits})
	}
	r.system.waitingChanged(r.run, s.waits)
}

// startChild starts a child's run. Its actor starts when the child's first event is in the journal.
func (r *runActor) startChild(c actor.Context, child *childRun) {
	run, err := r.system.runs.openChild(r.run, child)
	if err != nil {
		child.reply <- childStart{err: err}
		r.writeCanceled(c, child)
		return
	}
	child.reply <- childStart{id: child.id, run: run}
}

// writeCanceled writes the whole log of a child that was never started.
func (r *runActor) writeCanceled(c actor.Context, child *childRun) {
	if _, err := r.system.runs.writeCanceled(r.run, child); err != nil {
		c.Send(c.Self(), &childOver{id: child.id, status: messages.Canceled, cause: messages.CauseCanceledByUser})
	}
}

// spawnRun spawns a run's actor under the caller's actor.
func (s *System) spawnRun(c actor.Context, under *supervision.Children, r *activeRun) {
	if r.log.HasTerminal() {
		s.owner.release(r)
		return
	}
	name := string(r.id)
	if r.parent != nil {
		name = actorOf(r.id)
	}
	_, err := under.Start(c, supervision.ChildSpec{
		Name: name, Shutdown: s.config.CancelHard + grace,
		New: func() actor.Actor { return s.newRunActor(r) },
	})
	if err != nil {
		s.owner.settle(r, err)
		return
	}
	if r.parent != nil {
		s.sendToRuns(&watchRun{about: r})
	}
}

// runEnded is called by the parent of a run's actor when that actor has ended.
func (s *System) runEnded(r *activeRun, exit supervision.Exit) {
	switch {
	case exit.Err == nil && r.log.HasTerminal():
		s.owner.release(r)
	case exit.Err == nil && r.leaving.Load():
		s.owner.handOver(r)
	default:
		s.owner.settle(r, exit.Err)
	}
}

// signal and notice are messages that may arrive after their receiver has ended.
type (
	signal        struct{ supervision.NoDeadLetterLog }
	notice[T any] struct {
		supervision.NoDeadLetterLog
		about T
	}
)
