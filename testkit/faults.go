package testkit

import (
	"context"
	"maps"
	"reflect"
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
