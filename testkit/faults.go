package testkit

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Faults injects plans into the runs of one System. Its Inject is for [actors.Config], its Disturb for the [Journal] of
// the same System. Times are right for a System whose limits are the defaults, and for virtual time.
type Faults struct {
	mu       sync.Mutex
	started  int
	expected map[string]*Trial // by label, until the run has its id
	trials   map[messages.RunID]*Trial
	hits     map[Cell]int
	release  chan struct{}

	deaf, everDeaf, blocked, everBlocked atomic.Int64
}

// NewFaults returns Faults without a plan.
func NewFaults() *Faults {
	return &Faults{expected: map[string]*Trial{}, trials: map[messages.RunID]*Trial{}, hits: map[Cell]int{},
		release: make(chan struct{})}
}

// Trial is a run with a plan.
type Trial struct {
	Plan Plan
	Run  *actors.Run

	faults *Faults
	system *actors.System

	working atomic.Int64

	mu       sync.Mutex
	id       messages.RunID
	fired    []bool
	canceled bool // what the plan's cancel asks for has happened
	appends  int
	refused  int
}

// planLabel names a run's trial in run.queued.
const planLabel = "plan"

// Start starts a run of the script with the plan's faults in it.
func (f *Faults) Start(ctx context.Context, s *actors.System, script Script, plan Plan) (*Trial, error) {
	t := &Trial{Plan: plan, faults: f, system: s, fired: make([]bool, len(plan.Faults))}
	f.mu.Lock()
	f.started++
	label := strconv.Itoa(f.started)
	f.expected[label] = t
	f.mu.Unlock()
	job := script.Job()
	for i, task := range job.Tasks {
		job.Tasks[i].Run = func(ctx context.Context, c *actors.TaskContext) error { return t.work(ctx, c, task) }
	}
	run, err := s.Start(ctx, job, actors.Options{Labels: map[string]string{planLabel: label}})
	t.Run = run
	return t, err
}

// Working returns how many of the run's task functions have not returned and are not deaf.
func (t *Trial) Working() int64 { return t.working.Load() }

// Release lets everything go on that is deaf or blocked.
func (f *Faults) Release() { close(f.release) }

// Deaf returns how many goroutines of tasks are deaf now, and ever were.
func (f *Faults) Deaf() (now, ever int64) { return f.deaf.Load(), f.everDeaf.Load() }

// Blocked returns how many actors are blocked in Receive now, and ever were.
func (f *Faults) Blocked() (now, ever int64) { return f.blocked.Load(), f.everBlocked.Load() }

// Hits returns how often each cell has happened: the fault, and what its cancel says.
func (f *Faults) Hits() map[Cell]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.hits)
}

// Inject is for [actors.Config].
func (f *Faults) Inject(p actors.Point) {
	f.mu.Lock()
	t := f.trials[p.Run]
	f.mu.Unlock()
	if t == nil {
		return
	}
	if m, ok := p.Message.(*poke); ok {
		if m.trial == t {
			t.turn(m.fault)
		}
		return
	}
	phase, ok := lifecycle[reflect.TypeOf(p.Message).String()]
	if !ok {
		return
	}
	for i, fault := range t.Plan.Faults {
		if fault.Actor == p.Actor && fault.Phase == phase && t.fire(i) {
			t.cancelBefore(i)
			t.turn(i)
		}
	}
}

// lifecycle names the library's messages by type: only supervision and actors import it.
var lifecycle = map[string]Phase{"*actor.Started": Starting, "*actor.Stopping": Stopping, "*actor.Stopped": Stopped}

// Disturb is for the Journal of the same System.
func (f *Faults) Disturb(b actors.Block) Disturbance {
	f.mu.Lock()
	t := f.trials[b.Run]
	if queued, ok := b.Events[0].Body.(messages.RunQueued); ok && t == nil {
		label := queued.Labels[planLabel]
		if t = f.expected[label]; t != nil {
			t.id = b.Run
			f.trials[b.Run] = t
			delete(f.expected, label)
		}
	}
	f.mu.Unlock()
	if t == nil {
		return Disturbance{}
	}
	return t.disturb()
}

func (t *Trial) disturb() Disturbance {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.appends++
	dice := (t.Plan.Seed + uint64(t.appends)) * 0x9e3779b97f4a7c15 >> 60
	switch t.Plan.Journal {
	case Slow:
		return Disturbance{Delay: time.Duration(1+dice%3) * time.Millisecond}
	case Refusing:
		if dice < 8 && t.refused < 2 {
			t.refused++
			return Disturbance{Refuse: true}
		}
		t.refused = 0
	case Uncertain:
		return Disturbance{Unknown: dice < 8, Lose: dice < 3}
	}
	return Disturbance{}
}

// poke is a message that makes its receiver's turn fail.
type poke struct {
	trial *Trial
	fault int
}

// IgnoreDeadLetterLogging keeps a late one quiet.
func (*poke) IgnoreDeadLetterLogging() {}

var errInjected = errors.New("injected")

// fire reports whether the fault has not happened before.
func (t *Trial) fire(i int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.fired[i]
	t.fired[i] = true
	return first
}

// hit counts the cell: the fault happens now, and what its cancel asks for has happened or is on its way.
func (t *Trial) hit(i int) {
	t.mu.Lock()
	counts := t.Plan.Cancel != CancelBefore || t.canceled
	t.mu.Unlock()
	if !counts || i > 0 {
		return
	}
	t.faults.mu.Lock()
	defer t.faults.mu.Unlock()
	t.faults.hits[Cell{t.Plan.Faults[i], t.Plan.Cancel}]++
}

// cancelBefore does, where the fault is the plan's first, what the cancel asks for before and at the moment of the fault.
func (t *Trial) cancelBefore(i int) {
	if i > 0 {
		return
	}
	switch t.Plan.Cancel {
	case CancelBefore:
		if t.Plan.Faults[i].Phase != Stopping && t.Plan.Faults[i].Phase != Stopped {
			t.cancel()
		}
	case CancelWith:
		go t.cancel()
	case CancelAfter:
		time.AfterFunc(time.Millisecond, t.cancel)
	}
}

// cancel returns when the run is canceling, has ended, or cannot answer.
func (t *Trial) cancel() {
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	if t.system.Cancel(ctx, t.id, "tester", "the plan says so") != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.canceled = true
}

// turn fails the turn of the actor that it is called in.
func (t *Trial) turn(i int) {
	t.hit(i)
	f := t.faults
	switch t.Plan.Faults[i].Failure {
	case TurnPanic:
		panic(errInjected)
	case TurnPanicNil:
		panic(nil)
	case TurnGoexit:
		runtime.Goexit()
	case TurnBlock:
		f.everBlocked.Add(1)
		f.blocked.Add(1)
		<-f.release
		f.blocked.Add(-1)
	default:
		t.byPID(i)
	}
}

// reach makes the fault happen to an actor from outside.
func (t *Trial) reach(i int) {
	if !t.fire(i) {
		return
	}
	t.cancelBefore(i)
	switch t.Plan.Faults[i].Failure {
	case Stop, Poison, Flood:
		t.hit(i)
		t.byPID(i)
	default:
		t.system.Node().Root().Send(t.system.PID(t.id, t.target(i)), &poke{t, i})
	}
}

// target returns the actor's name as System.PID wants it.
func (t *Trial) target(i int) string {
	if name := t.Plan.Faults[i].Actor; name != RunActor {
		return name
	}
	return ""
}

func (t *Trial) byPID(i int) {
	root, pid := t.system.Node().Root(), t.system.PID(t.id, t.target(i))
	switch t.Plan.Faults[i].Failure {
	case Stop:
		root.Stop(pid)
	case Poison:
		root.Poison(pid)
	case Flood:
		for range 300 {
			root.Send(pid, &poke{})
		}
	}
}

// work is a task's function with the plan's faults in it.
func (t *Trial) work(ctx context.Context, c *actors.TaskContext, task actors.Task) error {
	t.working.Add(1)
	defer t.working.Add(-1)
	t.atWork(task.Name, c.Attempt())
	err := task.Run(ctx, c)
	if i := t.failureOf(task.Name, c.Attempt()); i >= 0 && t.fire(i) {
		t.cancelBefore(i)
		t.hit(i)
		return t.fail(ctx, c, i)
	}
	if c.Attempt() == 1 && ctx.Err() == nil && t.retries(task.Name) {
		return Step{Do: Retry}.fail(ctx, c)
	}
	return err
}

// atWork makes happen what is to happen while the task works. It stays a moment, whatever the context says, so that it
// does.
func (t *Trial) atWork(task string, attempt int) {
	if attempt > 1 {
		return
	}
	for i, f := range t.Plan.Faults {
		late := f.Phase == Stopping || f.Phase == Stopped
		switch {
		case late && i == 0 && t.Plan.Cancel == CancelBefore && task == Write:
			t.cancel()
		case f.Failure == None && f.Actor == task:
			t.fire(i)
			t.cancelBefore(i)
			t.hit(i)
		case f.Phase == Phase(task) && !f.ofWork():
			t.reach(i)
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (f Fault) ofWork() bool { return slices.Contains(WorkFailures(), f.Failure) }

// failureOf returns the fault that the task's attempt is to fail with, or -1.
func (t *Trial) failureOf(task string, attempt int) int {
	for i, f := range t.Plan.Faults {
		if f.Actor == task && f.ofWork() && f.Failure != None {
			if attempt--; attempt == 0 {
				return i
			}
		}
	}
	return -1
}

// retries reports whether a fault waits for the task to be retried, and makes it happen while it is.
func (t *Trial) retries(task string) bool {
	waits := false
	for i, f := range t.Plan.Faults {
		if f.Phase == Retrying && (f.Actor == task || f.Actor == RunActor && task == Analyze) {
			waits = true
			time.AfterFunc(10*time.Millisecond, func() { t.reach(i) })
		}
	}
	return waits
}

func (t *Trial) fail(ctx context.Context, c *actors.TaskContext, i int) error {
	fault := t.Plan.Faults[i]
	switch fault.Failure {
	case DeltasPanic:
		for range 20 {
			_ = c.Say("last words of "+fault.Actor, "x") // a cancelled task panics all the same
		}
		panic(errInjected)
	case Failure(Deaf):
		f := t.faults
		f.everDeaf.Add(1)
		f.deaf.Add(1)
		defer f.deaf.Add(-1)
		t.working.Add(-1)
		defer t.working.Add(1)
		<-f.release
		return nil
	default:
		return Step{Do: Action(fault.Failure)}.fail(ctx, c)
	}
}
