package faultplan

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Faults injects plans into the runs of one System, whose config is from [Faults.Config]. Its times fit a System with
// default limits in virtual time. It is safe for concurrent use.
type Faults struct {
	mu      sync.Mutex
	armed   int
	waiting map[string]*Trial // by label, until the run has its id
	trials  map[messages.RunID]*Trial
	release chan struct{}

	deaf, everDeaf, blocked, everBlocked atomic.Int64
}

// NewFaults returns Faults without a plan.
func NewFaults() *Faults {
	return &Faults{waiting: map[string]*Trial{}, trials: map[messages.RunID]*Trial{},
		release: make(chan struct{})}
}

// Config completes the config of a System for the plans: it adds [Faults.inject], and wraps the journal with
// [Faults.disturb]. Without a journal it adds one in memory.
func (f *Faults) Config(c actors.Config) actors.Config {
	if c.Journal == nil {
		c.Journal = journal.NewMemory()
	}
	c.Journal = &journal.Hostile{Journal: c.Journal, Disturb: f.disturb}
	c.Inject = f.inject
	return c
}

// planLabel is the label that names a run's trial.
const planLabel = "plan"

// Arm prepares the plan for a run of any job that is started with the trial's Labels.
func (f *Faults) Arm(plan FaultPlan) *Trial {
	plan.Faults = slices.Clone(plan.Faults)
	for i := range plan.Faults {
		fault := &plan.Faults[i]
		fault.Phase = cmp.Or(fault.Phase, Phase(fault.Actor))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed++
	label := strconv.Itoa(f.armed)
	t := &Trial{Plan: plan, Labels: map[string]string{planLabel: label}, faults: f, fired: make([]bool, len(plan.Faults))}
	f.waiting[label] = t
	return t
}

// Start starts a run of the job with the plan's faults in it.
func (f *Faults) Start(ctx context.Context, s *actors.System, job actors.Job, plan FaultPlan) (*Trial, error) {
	t := f.Arm(plan)
	run, err := s.Start(ctx, job, actors.Options{Labels: t.Labels})
	t.Run = run
	return t, err
}

// Release ends everything that is deaf or blocked.
func (f *Faults) Release() { close(f.release) }

// Deaf returns how many goroutines of tasks are deaf now, and ever were.
func (f *Faults) Deaf() (now, ever int64) { return f.deaf.Load(), f.everDeaf.Load() }

// Blocked returns how many actors are blocked in Receive now, and ever were.
func (f *Faults) Blocked() (now, ever int64) { return f.blocked.Load(), f.everBlocked.Load() }

// inject is for the Inject of an [actors.Config].
func (f *Faults) inject(p actors.Point) {
	f.mu.Lock()
	t := f.trials[p.Run]
	f.mu.Unlock()
	if t == nil {
		return
	}
	if m, ok := p.Message.(*poke); ok {
		if m.trial == t {
			if t.Plan.Cancel == CancelWith && !t.Plan.Faults[m.fault].byPID() {
				t.cancelBefore(m.fault, p)
			}
			t.strike(p, m.fault)
		}
		return
	}
	switch p.Name {
	case actors.WorkBegins:
		t.begins(p)
	case actors.WorkReturns:
		t.returns(p)
	}
	for i, fault := range t.Plan.Faults {
		switch {
		case fault.Actor != p.Actor || fault.Phase != Phase(p.Name):
		case p.Task != nil && !fault.ofWork():
			t.reach(i, p)
		case t.fire(i):
			t.cancelBefore(i, p)
			t.strike(p, i)
		}
	}
}

// disturb is for the Disturb of the same System's Journal.
func (f *Faults) disturb(b journal.Block) journal.Disturbance {
	f.mu.Lock()
	t := f.trials[b.Run]
	if queued, ok := b.Events[0].Body.(messages.RunQueued); ok && t == nil {
		label := queued.Labels[planLabel]
		if t = f.waiting[label]; t != nil {
			f.trials[b.Run] = t
			delete(f.waiting, label)
		}
	}
	f.mu.Unlock()
	if t == nil {
		return journal.Disturbance{}
	}
	return t.disturb()
}

// disturb decides about the next append from the seed and its number alone, so that a trial can be repeated.
func (t *Trial) disturb() journal.Disturbance {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.appends++
	dice := (t.Plan.Seed + uint64(t.appends)) * 0x9e3779b97f4a7c15 >> 60
	switch t.Plan.Journal {
	case Slow:
		return journal.Disturbance{Delay: time.Duration(1+dice%3) * time.Millisecond}
	case Refusing:
		if dice < 8 && t.refused < 2 {
			t.refused++
			return journal.Disturbance{Refuse: true}
		}
		t.refused = 0
	case Final:
		return journal.Disturbance{Never: uint64(t.appends) == 2+t.Plan.Seed%12}
	case Uncertain:
		return journal.Disturbance{Unknown: dice < 8, Lose: dice < 3}
	}
	return journal.Disturbance{}
}

// Trial is a plan with its run.
type Trial struct {
	Plan FaultPlan
	// Labels assign a run to the trial, whoever starts that run.
	Labels map[string]string
	// Run is the run that [Faults.Start] has started.
	Run *actors.Run

	faults *Faults

	mu       sync.Mutex
	fired    []bool
	canceled bool // the plan's cancel has happened
	appends  int
	refused  int
	hits     int
}

// poke is a message that makes the turn of its receiver fail.
type poke struct {
	trial *Trial
	fault int
}

// IgnoreDeadLetterLogging keeps a late poke out of the log.
func (*poke) IgnoreDeadLetterLogging() {}

var errInjected = errors.New("injected")

// fire reports whether the fault has not happened before, and notes that it does now.
func (t *Trial) fire(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.fired[i]
	t.fired[i] = true
	return first
}

// hit counts the first fault: it happens now, and its cancel has happened or is about to happen.
func (t *Trial) hit(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i == 0 && (t.Plan.Cancel != CancelBefore || t.canceled) {
		t.hits++
	}
}

// Hits returns how often the plan's first fault has happened, with its cancel.
func (t *Trial) Hits() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hits
}

// cancelBefore cancels before or at the first fault of the plan, if the plan says so.
func (t *Trial) cancelBefore(i int, p actors.Point) {
	if i > 0 {
		return
	}
	switch t.Plan.Cancel {
	case CancelBefore:
		if t.Plan.Faults[i].Phase != Stopping && t.Plan.Faults[i].Phase != Stopped {
			t.cancel(p)
		}
	case CancelWith:
		go t.cancel(p)
	case CancelAfter:
		time.AfterFunc(time.Millisecond, func() { t.cancel(p) })
	}
}

// cancel cancels the run. It returns when the run is canceling, has ended, or cannot answer.
func (t *Trial) cancel(p actors.Point) {
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	if p.System.Cancel(ctx, p.Run, "tester", "the plan says so") != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.canceled = true
}

// reach makes the fault happen in a turn of the actor, unless the actor has stopped. A cancel together with a turn's
// failure waits for that turn; before it, the cancel could stop the actor each time.
func (t *Trial) reach(i int, p actors.Point) {
	if !t.fire(i) {
		return
	}
	byPID := t.Plan.Faults[i].byPID()
	if byPID || t.Plan.Cancel != CancelWith {
		t.cancelBefore(i, p)
	}
	if byPID {
		t.hit(i)
	}
	target := t.Plan.Faults[i].Actor
	if target == RunActor {
		target = ""
	}
	p.System.Node().Root().Send(p.System.PID(p.Run, target), &poke{t, i})
}

// strike makes the fault happen to the actor at the point, and records it in the run.
func (t *Trial) strike(p actors.Point, i int) {
	f := t.Plan.Faults[i]
	if !f.byPID() || f.Phase == Starting {
		t.hit(i)
	}
	p.Record(string(f.Failure))
	if p.Task != nil {
		t.fail(p, f)
		return
	}
	root, self := p.System.Node().Root(), p.System.PID(p.Run, "")
	if f.Actor != RunActor {
		self = p.System.PID(p.Run, f.Actor)
	}
	switch f.Failure {
	case TurnPanicNil:
		panic(nil)
	case TurnGoexit:
		runtime.Goexit()
	case TurnBlock:
		t.faults.block(&t.faults.blocked, &t.faults.everBlocked)
	case Stop:
		root.Stop(self)
	case Poison:
		root.Poison(self)
	case Flood:
		for range 300 {
			root.Send(self, &poke{})
		}
	default:
		panic(errInjected)
	}
}

// block waits for Release.
func (f *Faults) block(now, ever *atomic.Int64) {
	ever.Add(1)
	now.Add(1)
	<-f.release
	now.Add(-1)
}

// begins starts the faults that happen while the task works. It ignores the context for a moment, so that they do
// happen.
func (t *Trial) begins(p actors.Point) {
	if p.Attempt > 1 {
		return
	}
	for i, f := range t.Plan.Faults {
		late := f.Phase == Stopping || f.Phase == Stopped
		switch {
		case late && i == 0 && t.Plan.Cancel == CancelBefore && (p.Actor == f.Actor || f.Actor == RunActor && p.Actor == Write):
			t.cancel(p)
		case f.Failure == None && f.Actor == p.Actor:
			t.fire(i)
			t.cancelBefore(i, p)
			t.hit(i)
		case f.Phase == Phase(p.Actor) && !f.ofWork():
			t.reach(i, p)
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// returns makes the task's attempt fail, if the plan says so.
func (t *Trial) returns(p actors.Point) {
	if i := t.failureOf(p); i >= 0 && t.fire(i) {
		t.cancelBefore(i, p)
		t.strike(p, i)
		return
	}
	if p.Attempt == 1 && p.Context.Err() == nil && t.retries(p) {
		p.Fail(Step{Do: Retry}.fail(p.Context, p.Task))
	}
}

func (f Fault) ofWork() bool { return slices.Contains(WorkFailures(), f.Failure) }

func (f Fault) byPID() bool { return slices.Contains(PIDFailures(), f.Failure) }

// failureOf returns the index of the fault that the task's attempt must fail with, or -1.
func (t *Trial) failureOf(p actors.Point) int {
	attempt := p.Attempt
	for i, f := range t.Plan.Faults {
		if f.Actor == p.Actor && f.Phase == Phase(f.Actor) && f.ofWork() && f.Failure != None {
			if attempt--; attempt == 0 {
				return i
			}
		}
	}
	return -1
}

// retries reports whether a fault waits for the task's retry, and makes it happen during the retry.
func (t *Trial) retries(p actors.Point) bool {
	waits := false
	for i, f := range t.Plan.Faults {
		if f.Phase == Retrying && (f.Actor == p.Actor || f.Actor == RunActor && p.Actor == Analyze) {
			waits = true
			time.AfterFunc(10*time.Millisecond, func() { t.reach(i, p) })
		}
	}
	return waits
}

// fail fails a task's work.
func (t *Trial) fail(p actors.Point, f Fault) {
	switch f.Failure {
	case DeltasPanic:
		for range 20 {
			_ = p.Task.AppendText("last words of "+f.Actor, "x") // a cancelled task panics all the same
		}
		panic(errInjected)
	case Failure(Deaf):
		t.faults.block(&t.faults.deaf, &t.faults.everDeaf)
	default:
		if err := (Step{Do: Action(f.Failure), Text: errInjected.Error()}).fail(p.Context, p.Task); err != nil {
			p.Fail(err)
		}
	}
}
