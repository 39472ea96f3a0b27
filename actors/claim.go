package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
)

// owner is the part of a System that owns runs: it claims those that the journal lends, shows the journal that this node
// has them, and settles a run that has no actor.
type owner struct {
	*System // whose part it is
	// recovered: the runs that the journal held at the start were handled, and the loops run.
	recovered atomic.Bool
	closing   atomic.Bool // the journal has not answered the last report of claims that are over

	mu             sync.Mutex
	endedClaims    []journal.Claim // reported to the journal at the next beat
	claimsToReturn []journal.Claim // of runs that were handed over; reported to the journal at the end
}

// recover takes over the runs that can be claimed at once, and waits within ctx for their terminals.
func (o *owner) recover(ctx context.Context) {
	var orphans []*activeRun
	ready, cancel := context.WithCancel(ctx)
	cancel() // claim what is ready, without waiting for more
	for lent := map[messages.RunID]bool{}; ctx.Err() == nil; {
		var c journal.Claim
		if o.guarded(func() (err error) { c, err = o.journal.Claim(ready, o.writer); return err }) != nil {
			break // the journal's loops will see whether it crashes again
		}
		if lent[c.Run] {
			break
		}
		lent[c.Run] = true
		if r := o.adopt(ctx, c); r != nil {
			orphans = append(orphans, r)
		}
	}
	for _, r := range orphans {
		stored := make(chan error, 1)
		r.log.WhenDurable(0, func(err error) { stored <- err })
		select {
		case <-stored:
		case <-ctx.Done():
		}
	}
	o.recovered.Store(true)
	o.node.Root().Send(o.loops.Load(), &startLoops{})
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
func (o *owner) claimAll(ctx context.Context) error {
	var last messages.RunID
	for ctx.Err() == nil {
		c, err := o.journal.Claim(ctx, o.writer)
		if err != nil {
			return err
		}
		o.claimed(ctx, c)
		if c.Run == last { // a journal that lends the same run again and again must not keep the node busy
			supervision.Sleep(ctx, loopPause)
		}
		last = c.Run
	}
	return context.Cause(ctx)
}

// claimed starts a run that this node has opened, and adopts any other run.
func (o *owner) claimed(ctx context.Context, c journal.Claim) {
	r := o.runs.active(c.Run)
	if r == nil {
		o.adopt(ctx, c)
		return
	}
	r.log.WhenDurable(1, func(err error) {
		if err == nil {
			o.launch(r, c)
		}
	})
}

// launch starts the run's actor once, under its parent's actor or under the supervisor of runs.
func (o *owner) launch(r *activeRun, c journal.Claim) {
	r.mu.Lock()
	again := r.claim.Run != ""
	r.claim = c
	r.mu.Unlock()
	switch {
	case again:
	case r.parent != nil:
		r.parent.post(&startRun{about: r})
	default:
		o.sendToRuns(&startRun{about: r})
	}
}

// adopt takes over a run that this node did not open. A run without an owner starts; a run whose owner was lost starts
// again or ends. It returns the run if it only ends it.
func (o *owner) adopt(ctx context.Context, c journal.Claim) *activeRun {
	if !o.runs.closedBy(nil) {
		o.returnAtClose(c)
		return nil
	}
	var fold *messages.Fold
	var head journal.Head
	err := o.guarded(func() (err error) { fold, head, err = o.readers.foldLog(ctx, c.Run); return err })
	switch {
	case err != nil:
		o.runs.excludeRun(c.Run, err)
		return nil
	case head.Ended:
		o.mu.Lock()
		o.endedClaims = append(o.endedClaims, c)
		o.mu.Unlock()
		return nil
	}
	queued := *fold.Peek().Queued
	job, why := o.jobOf(queued)
	if why == nil && head.Epoch > 0 {
		why = cannotRestart(&job, fold)
	}
	restarts := why == nil && head.Epoch > 0
	var unborn map[messages.RunID]bool
	waited := fold.Peek().Waited(time.Now())
	if restarts {
		err = o.guarded(func() (err error) {
			waited = o.waited(ctx, fold.Peek())
			unborn, err = o.unborn(ctx, fold)
			return err
		})
		if err != nil {
			o.log.Warn("a child's log cannot be read", zap.String("run", string(c.Run)), zap.Error(err))
			return nil // the journal will lend it again
		}
	}
	r := o.runs.newRun(c.Run, job, queued, nil) // without a parent, even if it is a sub-run: its parent on this node has no actor, or only waits for the log
	r.unborn = unborn
	r.after, r.queued = fold.Peek().After, placed(fold.Peek())
	r.clock.deadline -= max(time.Since(fold.Peek().QueuedAt), 0)
	r.clock.paused.Store(int64(waited))
	r.attachElsewhere() // callers have one lease to say that they are still attached
	r.log.Resume(fold, head)
	if !o.runs.enlistLent(r) {
		return nil
	}
	o.readers.notify(r.id)
	if why == nil {
		o.launch(r, c)
		return nil
	}
	r.mu.Lock()
	r.claim = c
	r.mu.Unlock()
	o.takeOver(r, messages.Errorf(messages.CauseNodeLost, "the node that ran it was lost, and %v", why))
	return r
}

// jobOf makes the job that a log names, or says why it cannot. A factory that takes too long is an error, so that the
// claims of other runs do not wait for it.
func (o *owner) jobOf(queued messages.RunQueued) (Job, error) {
	type result struct {
		job Job
		err error
	}
	made := make(chan result, 1)
	o.retryUntilDone(func() bool {
		job, err := o.makeJob(queued.Job, queued.Input)
		if err == nil {
			err = job.validate()
		}
		made <- result{job, err}
		return true
	})
	patience := time.NewTimer(log.ReadTimeout)
	defer patience.Stop()
	var got result
	select {
	case got = <-made:
	case <-patience.C:
		got.err = errors.New("its factory does not return")
	}
	if got.err != nil {
		o.log.Warn("the job of a run cannot be made", zap.String("job", queued.Job), zap.Error(got.err))
		return Job{Name: queued.Job}, fmt.Errorf("its job %s cannot be made again: %w", queued.Job, got.err)
	}
	return got.job, nil
}

// waited returns how long a run has waited for people, since its limits stand still meanwhile.
func (o *owner) waited(ctx context.Context, state *messages.State) time.Duration {
	sum := state.Waited(time.Now())
	for _, c := range state.Children {
		if c.Status.IsEnded() {
			continue
		}
		if child, err := o.readers.archive.State(ctx, c.Child); err == nil {
			sum += o.waited(ctx, &child)
		}
	}
	return sum
}

// unborn returns the run's children that have no log.
func (o *owner) unborn(ctx context.Context, f *messages.Fold) (map[messages.RunID]bool, error) {
	unborn := map[messages.RunID]bool{}
	for _, c := range f.Peek().Children {
		if c.Status.IsEnded() {
			continue
		}
		_, err := o.readers.readWithTimeout(ctx, c.Child, 0)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound:
			unborn[c.Child] = true
		case err != nil:
			return nil, err
		}
	}
	return unborn, nil
}

// beatAll renews the claims of this node in a loop, after checking in the log that it still owns each run. No claim waits
// for another: one part of the store may answer while another does not.
func (o *owner) beatAll(ctx context.Context) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	for begun := time.Now(); ; {
		if supervision.Sleep(ctx, journal.LeaseTerm-time.Since(begun)); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		begun = time.Now()
		b := &beats{owner: o}
		b.left.Store(1)
		for _, r := range o.runs.all() {
			switch b.left.Add(1); {
			case !r.beating.CompareAndSwap(false, true):
				b.over(ctx, r, errSilent)
			case o.appender.InPlace:
				b.beat(ctx, r)
			default:
				beside.Go(func() { b.beat(ctx, r) })
			}
		}
		b.over(ctx, nil, nil)
		if o.appender.InPlace {
			o.close(ctx)
		} else if o.closing.CompareAndSwap(false, true) {
			beside.Go(func() {
				_ = o.guarded(func() error { o.close(ctx); return nil })
				o.closing.Store(false)
			})
		}
	}
}

// errSilent means that the store has not answered the last beat.
var errSilent = messages.Errorf(messages.CauseJournalUnavailable, "the journal has not answered the last beat")

// beats are one round of heartbeats. Held is called once the store has answered about each run.
type beats struct {
	*owner
	left   atomic.Int64 // beats that are not over, and one for the loop that starts them
	silent atomic.Bool  // the store did not answer for a run
}

func (b *beats) beat(ctx context.Context, r *activeRun) {
	err := b.guarded(func() error { return b.owner.beat(ctx, r) })
	r.beating.Store(false)
	b.over(ctx, r, err)
}

func (b *beats) over(ctx context.Context, r *activeRun, err error) {
	if err != nil && err != errSilent && ctx.Err() == nil {
		b.log.Warn("claim", zap.String("run", string(r.id)), zap.Error(err))
	}
	if errors.Is(err, context.DeadlineExceeded) || messages.CodeOf(err) == messages.CauseJournalUnavailable {
		b.silent.Store(true)
	}
	if b.left.Add(-1) == 0 && !b.silent.Load() {
		b.config.Held()
	}
}

// close reports the claims that are over to the journal. A claim that it fails to report is lent again, and ends when
// its new holder reads the terminal.
func (o *owner) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, log.ReadTimeout) // the beats must not wait longer
	defer cancel()
	o.mu.Lock()
	done := o.endedClaims
	o.endedClaims = nil
	o.mu.Unlock()
	for _, c := range done {
		if err := o.journal.Keep(ctx, c, journal.Ended); err != nil {
			o.log.Warn("claim", zap.String("run", string(c.Run)), zap.Error(err))
		}
	}
}

// beat renews the claim of one run, or drops the run if the log says that another node owns it.
func (o *owner) beat(ctx context.Context, r *activeRun) error {
	if !o.appender.InPlace { // one hanging call must not cost the other claims
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, log.ReadTimeout)
		defer cancel()
	}
	claim := r.lent()
	owned, err := r.log.Owned(ctx)
	if err != nil || !owned || claim.Run == "" { // the run has not been lent yet
		return err
	}
	return o.journal.Keep(ctx, claim, journal.Held)
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
		if s.owner.recovered.Load() {
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

// loop starts the named loop in its own goroutine.
func (a *journalActor) loop(c actor.Context, name string) {
	f := map[string]func(context.Context) error{
		"claims": a.system.owner.claimAll, "beats": a.system.owner.beatAll, "notes": a.system.readers.watch, "retention": a.system.owner.expireAll}[name]
	a.tasks = slices.DeleteFunc(a.tasks, func(t *supervision.Routine) bool { return !t.Running() })
	a.tasks = append(a.tasks, a.system.node.Go(a.system.ctx, name, c.Self(), c.Self(), 1,
		func(ctx context.Context, _ *supervision.Routine) error { return f(ctx) }))
}

// expireAll removes, in a loop, the logs of runs that ended before the retention time.
func (o *owner) expireAll(ctx context.Context) error {
	for {
		if supervision.Sleep(ctx, min(max(o.config.Retention, time.Second), time.Minute)); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := o.journal.Expire(ctx, time.Now().Add(-o.config.Retention), o.config.RetentionBytes); err != nil {
			return err
		}
	}
}
