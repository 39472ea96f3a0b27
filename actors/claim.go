package actors

import (
	"context"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/actors/journal/lease"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// recover takes over the runs that can be claimed at once, and waits within ctx for their terminals.
func (s *System) recover(ctx context.Context) {
	var orphans []*activeRun
	ready, cancel := context.WithCancel(ctx)
	cancel() // claim what is ready, without waiting for more
	for lent := map[messages.RunID]bool{}; ctx.Err() == nil; {
		var c journal.Claim
		if s.guarded(func() (err error) { c, err = s.journal.Claim(ready, s.writer); return err }) != nil {
			break // the journal's loops will see whether it crashes again
		}
		if lent[c.Run] {
			break
		}
		lent[c.Run] = true
		if r := s.adopt(ctx, c); r != nil {
			orphans = append(orphans, r)
		}
	}
	for _, r := range orphans {
		kept := make(chan error, 1)
		r.log.WhenDurable(0, func(err error) { kept <- err })
		select {
		case <-kept:
		case <-ctx.Done():
		}
	}
	s.recovered.Store(true)
	s.node.Root().Send(s.loops.Load(), &startLoops{})
}

// guarded calls a function of a journal or a job, and turns a panic into an error.
func (s *System) guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("the journal or a job crashed", zap.Any("panic", r), zap.StackSkip("stack", 1))
			err = messages.Errorf(messages.CausePanic, "panic: %v", r)
		}
	}()
	return f()
}

// claimAll claims runs as long as the journal lends any.
func (s *System) claimAll(ctx context.Context) error {
	var last messages.RunID
	for ctx.Err() == nil {
		c, err := s.journal.Claim(ctx, s.writer)
		if err != nil {
			return err
		}
		s.claimed(ctx, c)
		if c.Run == last { // a journal that lends the same run again and again must not keep the node busy
			supervision.Sleep(ctx, loopPause)
		}
		last = c.Run
	}
	return context.Cause(ctx)
}

// claimed starts a run that this node has opened, and adopts any other run.
func (s *System) claimed(ctx context.Context, c journal.Claim) {
	r := s.active(c.Run)
	if r == nil {
		s.adopt(ctx, c)
		return
	}
	r.log.WhenDurable(1, func(err error) {
		if err == nil {
			s.launch(r, c)
		}
	})
}

// launch starts the run's actor once, under its parent's actor or under the supervisor of runs.
func (s *System) launch(r *activeRun, c journal.Claim) {
	r.mu.Lock()
	again := r.claim.Run != ""
	r.claim = c
	r.mu.Unlock()
	switch {
	case again:
	case r.parent != nil:
		r.parent.post(&startRun{about: r})
	default:
		s.sendToRuns(&startRun{about: r})
	}
}

// adopt takes over a run that this node did not open. A run without an owner starts; a run whose owner is gone starts
// again or ends. It returns the run if it only ends it.
func (s *System) adopt(ctx context.Context, c journal.Claim) *activeRun {
	if !s.closedBy(nil) {
		s.returnAtClose(c)
		return nil
	}
	var fold *messages.Fold
	var head journal.Head
	err := s.guarded(func() (err error) { fold, head, err = s.foldLog(ctx, c.Run); return err })
	switch {
	case err != nil:
		s.excludeRun(c.Run, err)
		return nil
	case head.Ended:
		s.mu.Lock()
		s.endedClaims = append(s.endedClaims, c)
		s.mu.Unlock()
		return nil
	}
	queued := *fold.Peek().Queued
	job, known := s.jobOf(queued)
	restarts := known && head.Epoch > 0 && canRestart(job, fold)
	var unborn map[messages.RunID]bool
	var waited time.Duration
	if restarts {
		err = s.guarded(func() (err error) {
			waited = s.waited(ctx, fold.Peek())
			unborn, err = s.unborn(ctx, fold)
			return err
		})
		if err != nil {
			s.log.Warn("a child's log cannot be read", zap.String("run", string(c.Run)), zap.Error(err))
			return nil // the journal will lend it again
		}
	}
	r := s.newRun(c.Run, job, queued, nil) // without a parent, even if it is a sub-run: its parent on this node has no actor, or only waits for the log
	r.unborn = unborn
	r.clock.deadline -= max(time.Since(fold.Peek().QueuedAt), 0)
	r.clock.paused.Store(int64(waited))
	r.attachElsewhere() // callers have one lease to say that they are still attached
	r.log.Resume(fold, head)
	s.mu.Lock()
	if s.live[r.id] != nil {
		s.mu.Unlock()
		return nil
	}
	delete(s.broken, r.id)
	s.enlist(r)
	s.mu.Unlock()
	s.relay.notify(r.id)
	if head.Epoch == 0 && known || restarts {
		s.launch(r, c)
		return nil
	}
	r.mu.Lock()
	r.claim = c
	r.mu.Unlock()
	s.takeOver(r, errNodeLost)
	return r
}

// jobOf makes the job that a log names, if this node knows the job. A factory that takes too long counts as unknown,
// so that the claims of other runs do not wait for it.
func (s *System) jobOf(queued messages.RunQueued) (Job, bool) {
	made := make(chan Job, 1)
	s.retryUntilDone(func() bool {
		job, err := s.makeJob(queued.Job, queued.Input)
		if err != nil || job.validate() != nil {
			job = Job{}
		}
		made <- job
		return true
	})
	patience := time.NewTimer(log.ReadTimeout)
	defer patience.Stop()
	select {
	case job := <-made:
		if job.Name != "" {
			return job, true
		}
	case <-patience.C:
		s.log.Error("a job's factory does not return", zap.String("job", queued.Job))
	}
	return Job{Name: queued.Job}, false
}

// waited returns how long a run has waited for people, since its limits stand still meanwhile.
func (s *System) waited(ctx context.Context, state *messages.State) time.Duration {
	sum := state.Waited(time.Now())
	for _, c := range state.Children {
		if c.Status.IsEnded() {
			continue
		}
		if child, err := s.archive.State(ctx, c.Child); err == nil {
			sum += s.waited(ctx, &child)
		}
	}
	return sum
}

// unborn returns the run's children that have no log.
func (s *System) unborn(ctx context.Context, f *messages.Fold) (map[messages.RunID]bool, error) {
	unborn := map[messages.RunID]bool{}
	for _, c := range f.Peek().Children {
		if c.Status.IsEnded() {
			continue
		}
		_, err := s.readWithTimeout(ctx, c.Child, 0)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound:
			unborn[c.Child] = true
		case err != nil:
			return nil, err
		}
	}
	return unborn, nil
}

// foldLog reads and folds the run's whole log.
func (s *System) foldLog(ctx context.Context, id messages.RunID) (*messages.Fold, journal.Head, error) {
	fold := &messages.Fold{}
	for {
		page, err := s.readWithTimeout(ctx, id, fold.Peek().Seq)
		if err != nil {
			return nil, journal.Head{}, err
		}
		for _, e := range page.Events {
			if err := fold.Apply(e); err != nil {
				return nil, journal.Head{}, err
			}
		}
		if fold.Peek().Seq >= page.Head.Seq && page.Head.Seq > 0 {
			return fold, page.Head, nil
		}
		if len(page.Events) == 0 {
			return nil, journal.Head{}, messages.Errorf(messages.CodeUnavailable, "the log ends at %d before its head %d",
				fold.Peek().Seq, page.Head.Seq)
		}
	}
}

// readWithTimeout calls the journal's Read with a timeout.
func (s *System) readWithTimeout(ctx context.Context, id messages.RunID, after uint64) (journal.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, log.ReadTimeout)
	defer cancel()
	return s.journal.Read(ctx, id, after)
}

// excludeRun excludes a run with a broken log: this node neither holds nor releases its claim.
func (s *System) excludeRun(id messages.RunID, why error) {
	s.mu.Lock()
	_, known := s.broken[id]
	s.broken[id] = why
	s.mu.Unlock()
	if !known {
		s.log.Error("set a broken log aside", zap.String("run", string(id)), zap.Error(why))
	}
}

// beatAll renews the claims of this node in a loop, after checking in the log that it still owns each run.
func (s *System) beatAll(ctx context.Context) error {
	for begun := time.Now(); ; {
		if supervision.Sleep(ctx, lease.Every-time.Since(begun)); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		begun = time.Now()
		for _, r := range s.all() {
			if err := s.beat(ctx, r); err != nil && ctx.Err() == nil {
				s.log.Warn("claim", zap.String("run", string(r.id)), zap.Error(err))
			}
		}
		s.close(ctx)
	}
}

// close reports the claims that are over to the journal. A claim that it fails to report is lent again, and ends when
// its new holder reads the terminal.
func (s *System) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, log.ReadTimeout) // the beats must not wait longer
	defer cancel()
	s.mu.Lock()
	done := s.endedClaims
	s.endedClaims = nil
	s.mu.Unlock()
	for _, c := range done {
		if err := s.journal.Keep(ctx, c, journal.Ended); err != nil {
			s.log.Warn("claim", zap.String("run", string(c.Run)), zap.Error(err))
		}
	}
}

// beat renews the claim of one run, or drops the run if the log says that another node owns it.
func (s *System) beat(ctx context.Context, r *activeRun) error {
	if !s.appender.InPlace { // one hanging call must not cost the other claims
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, log.ReadTimeout)
		defer cancel()
	}
	claim := r.lent()
	owned, err := r.log.Owned(ctx)
	if err != nil || !owned || claim.Run == "" { // the run has not been lent yet
		return err
	}
	return s.journal.Keep(ctx, claim, journal.Held)
}

// journalActor keeps four loops running that serve the journal: claims, beats, notes and retention. A loop that fails
// or panics starts again after loopPause.
type journalActor struct {
	system *System
	tasks  []*supervision.Routine
}

type (
	startLoops signal
	resumeLoop notice[string]
)

// loopPause is the wait before a failed loop or call is tried again.
const loopPause = time.Second

// Receive runs the loops, and restarts a failed loop after loopPause.
func (a *journalActor) Receive(c actor.Context) {
	s := a.system
	switch m := c.Message().(type) {
	case *actor.Started:
		s.loops.Store(c.Self())
		if s.recovered.Load() {
			a.start(c)
		}
		s.actorStarted()
	case *startLoops:
		a.start(c)
	case *resumeLoop:
		a.loop(c, m.about)
	case *supervision.TaskEnded:
		if s.ctx.Err() != nil {
			return
		}
		s.log.Warn("the journal failed", zap.String("loop", m.Task.Name()), zap.Error(m.Err))
		root, self, name := s.node.Root(), c.Self(), m.Task.Name()
		time.AfterFunc(loopPause, func() { root.Send(self, &resumeLoop{about: name}) })
	case *actor.Stopping:
		for _, t := range a.tasks {
			t.Cancel(errClosing)
		}
	}
}

func (a *journalActor) start(c actor.Context) {
	for _, name := range []string{"claims", "beats", "notes", "retention"} {
		a.loop(c, name)
	}
}

// loop starts the named loop in a goroutine of its own.
func (a *journalActor) loop(c actor.Context, name string) {
	f := map[string]func(context.Context) error{
		"claims": a.system.claimAll, "beats": a.system.beatAll, "notes": a.system.watch, "retention": a.system.expireAll}[name]
	a.tasks = slices.DeleteFunc(a.tasks, func(t *supervision.Routine) bool { return !t.Running() })
	a.tasks = append(a.tasks, a.system.node.Go(a.system.ctx, name, c.Self(), c.Self(), 1,
		func(ctx context.Context, _ *supervision.Routine) error { return f(ctx) }))
}

// watch handles the journal's notes: commands for this node, and wake-ups for readers.
func (s *System) watch(ctx context.Context) error {
	return s.journal.Watch(ctx, s.writer, func(n journal.Note) {
		if n.Command != nil {
			s.applyCommand(*n.Command)
			return
		}
		s.relay.notify(n.Run)
	})
}

// expireAll removes, in a loop, the logs of runs that ended before the retention time.
func (s *System) expireAll(ctx context.Context) error {
	for {
		if supervision.Sleep(ctx, min(max(s.config.Retention, time.Second), time.Minute)); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := s.journal.Expire(ctx, time.Now().Add(-s.config.Retention), s.config.RetentionBytes); err != nil {
			return err
		}
	}
}
