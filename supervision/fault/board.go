package fault

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Rule says when a point fires. Without further conditions it fires always and everywhere, until it is disarmed.
type Rule struct {
	Point Point `json:"point"`
	// Job and Task restrict the rule to one job or task. At restricts it to one place in a task's work: the name of
	// an [actors.Point], such as work returns, or the kind of the event that the task is about to emit.
	Job  string `json:"job,omitempty"`
	Task string `json:"task,omitempty"`
	At   string `json:"at,omitempty"`
	// Probability is from 0 to 1; 0 means 1. Equal Seeds give equal random numbers.
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	// Count bounds how often the rule fires, and Expires for how long.
	Count   int               `json:"count,omitempty"`
	Expires messages.Duration `json:"expires,omitempty"`
	// For is how long the fault lasts, if it has a duration; 0 means the default of the table.
	For messages.Duration `json:"for,omitempty"`
}

// Armed is a rule of a board, with its state.
type Armed struct {
	Rule
	Since time.Time `json:"since"`
	Fired int       `json:"fired"`

	dice *rand.Rand
	gone chan struct{} // closed when the rule is disarmed
}

// over reports whether the rule will never fire again.
func (a *Armed) over() bool {
	return a.Count > 0 && a.Fired >= a.Count || a.Expires > 0 && time.Since(a.Since) >= time.Duration(a.Expires)
}

// Lasts returns For or, if that is 0, the usual duration.
func (a *Armed) Lasts(usual time.Duration) time.Duration {
	if a.For > 0 {
		return time.Duration(a.For)
	}
	return usual
}

// Wait waits as long as the fault lasts; 0 has no end. It returns early when the rule is disarmed or ctx is done.
func (a *Armed) Wait(ctx context.Context, usual time.Duration) {
	if d := a.Lasts(usual); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	select {
	case <-ctx.Done():
	case <-a.gone:
	}
}

// mostRules bounds the rules of a board.
const mostRules = 100

// Board holds the rules of a node. A nil Board and the zero Board have none. It is safe for concurrent use.
type Board struct {
	// Kill ends the process at once. If it is nil, [NodeKill] does nothing.
	Kill func()

	live  atomic.Bool // some rule may fire
	mu    sync.Mutex
	rules []*Armed
}

// Armed reports whether any rule may fire.
func (b *Board) Armed() bool { return b != nil && b.live.Load() }

// Arm adds the rule. Errors: invalid_input, limit_exceeded.
func (b *Board) Arm(r Rule) error {
	switch {
	case !slices.ContainsFunc(table, func(i Info) bool { return i.Point == r.Point }):
		return messages.InvalidInput("there is no fault point %q; lastword fault ls lists them", r.Point)
	case r.Probability < 0 || r.Probability > 1:
		return messages.InvalidInput("a probability is between 0 and 1")
	case r.Count < 0 || r.Expires < 0 || r.For < 0:
		return messages.InvalidInput("count, expires and for must not be negative")
	case r.Point == NodeKill && b.Kill == nil:
		return messages.InvalidInput("nobody can kill this node")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules) == mostRules {
		return messages.LimitExceeded("there are %d rules already: disarm some", mostRules)
	}
	b.rules = append(b.rules, &Armed{Rule: r, Since: time.Now(), dice: rand.New(rand.NewPCG(r.Seed, 0)), gone: make(chan struct{})})
	b.live.Store(true)
	return nil
}

// Disarm removes the rules of the point, or all rules for "". It returns how many it removed.
func (b *Board) Disarm(p Point) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = slices.DeleteFunc(b.rules, func(a *Armed) bool {
		if p != "" && a.Point != p {
			return false
		}
		close(a.gone)
		n++
		return true
	})
	b.settle()
	return n
}

// settle notes whether any rule may still fire. mu must be held.
func (b *Board) settle() {
	b.live.Store(slices.ContainsFunc(b.rules, func(a *Armed) bool { return !a.over() }))
}

// List returns the rules, including those that will not fire again.
func (b *Board) List() []Armed {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []Armed{} // never null
	for _, a := range b.rules {
		list = append(list, *a)
	}
	return list
}

// Site is who passes a fault point.
type Site struct {
	Job, Task, At string
	// Record writes fault.injected into the run's log. If it fails, the fault does not happen.
	Record func() error
}

// Fire returns the rule that makes the fault happen at the point now, or nil.
func (b *Board) Fire(p Point, site *Site) *Armed {
	if b == nil || !b.live.Load() { // inlined: this is the whole cost without rules
		return nil
	}
	return b.fire(p, site)
}

// fire is Fire once a rule may fire. A fault that the log does not take does not happen, and its rule may fire again.
func (b *Board) fire(p Point, site *Site) *Armed {
	a := b.choose(p, site)
	if a != nil && site.Record() != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		a.Fired--
		b.settle()
		return nil
	}
	return a
}

// choose finds a rule that fires, and counts the firing.
func (b *Board) choose(p Point, site *Site) *Armed {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.rules {
		fits := a.Point == p && (a.Job == "" || a.Job == site.Job) && (a.Task == "" || a.Task == site.Task) && (a.At == "" || a.At == site.At)
		if fits && !a.over() && (a.Probability == 0 || a.dice.Float64() < a.Probability) {
			a.Fired++
			b.settle()
			return a
		}
	}
	return nil
}

// key is the context key of the function that hits fault points.
type key struct{}

// In returns a context for a task's work, in which [Hit] calls hit.
func In(ctx context.Context, hit func(Point) *Armed) context.Context {
	return context.WithValue(ctx, key{}, hit)
}

// Hit is [Board.Fire] for code that works for a task, such as a client of models. Outside of tasks nothing fires.
func Hit(ctx context.Context, p Point) *Armed {
	if hit, ok := ctx.Value(key{}).(func(Point) *Armed); ok {
		return hit(p)
	}
	return nil
}
