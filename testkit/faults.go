package testkit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Faults injects plans into the runs of one System, whose [Faults.Config] they made. Times are right for a System whose
// limits are the defaults, and for virtual time.
type Faults struct {
	mu      sync.Mutex
	armed   int
	waiting map[string]*Trial // by label, until the run has its id
	trials  map[messages.RunID]*Trial
	hits    map[Cell]int
	release chan struct{}

	deaf, everDeaf, blocked, everBlocked atomic.Int64
}

// NewFaults returns Faults without a plan.
func NewFaults() *Faults {
	return &Faults{waiting: map[string]*Trial{}, trials: map[messages.RunID]*Trial{}, hits: map[Cell]int{},
		release: make(chan struct{})}
}

// Config returns the config of a System that the plans are for: with [Faults.Inject], and with its journal, or a memory
// journal, behind [Faults.Disturb].
func (f *Faults) Config(c actors.Config) actors.Config {
	if c.Journal == nil {
		c.Journal = actors.NewMemoryJournal()
	}
	c.Journal = &Journal{Journal: c.Journal, Disturb: f.Disturb}
	c.Inject = f.Inject
	return c
}

// planLabel names a run's trial in run.queued.
const planLabel = "plan"

// Arm makes the plan that of the run, of any job, which is started with the trial's Labels.
func (f *Faults) Arm(plan Plan) *Trial {
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

// Start starts a run of the script with the plan's faults in it.
func (f *Faults) Start(ctx context.Context, s *actors.System, script Script, plan Plan) (*Trial, error) {
	t := f.Arm(plan)
	run, err := s.Start(ctx, script.Job(), actors.Options{Labels: t.Labels})
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

// Disturb is for the Journal of the same System.
func (f *Faults) Disturb(b actors.Block) Disturbance {
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
