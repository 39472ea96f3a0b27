package plan_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// mortal is a node's journal. At the append with the number nothing of the node gets through any more.
type mortal struct {
	actors.Journal
	left atomic.Int64
	dead context.Context
	die  context.CancelFunc
}

func newMortal(j actors.Journal, appends int64) *mortal {
	m := &mortal{Journal: j}
	m.left.Store(appends)
	m.dead, m.die = context.WithCancel(context.Background())
	return m
}

var errDead = messages.Errorf(messages.CodeUnavailable, "the node is dead")

func (m *mortal) Append(b journal.Block, done func(error)) {
	if m.left.Add(-1) <= 0 {
		m.die()
	}
	if m.dead.Err() == nil {
		m.Journal.Append(b, done)
	}
}

func (m *mortal) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if m.dead.Err() != nil {
		return journal.Page{}, errDead
	}
	return m.Journal.Read(ctx, run, after)
}

func (m *mortal) Claim(ctx context.Context, node string) (journal.Claim, error) {
	both, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(m.dead, stop)()
	c, err := m.Journal.Claim(both, node)
	if m.dead.Err() != nil {
		<-ctx.Done()
		return journal.Claim{}, ctx.Err()
	}
	return c, err
}

func (m *mortal) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if m.dead.Err() != nil {
		return errDead
	}
	return m.Journal.Keep(ctx, c, k)
}

// calls counts the calls of a job, by name, of all nodes that are alive.
type calls struct {
	mu sync.Mutex
	of map[string]int
}

func (c *calls) job(alive func() bool) actors.Definition {
	return actors.Func("work", func(ctx context.Context, _ *actors.TaskContext, in work) (any, error) {
		if !alive() {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		c.mu.Lock()
		c.of[in.Name]++
		n := c.of[in.Name]
		c.mu.Unlock()
		time.Sleep(time.Duration(in.MS) * time.Millisecond)
		if in.Cause != "" && int64(n) <= in.Fails {
			return nil, messages.Errorf(messages.Code(in.Cause), "the work fails")
		}
		return in.Give, nil
	})
}

//go:embed testdata/survivor.yaml
var survivor string

// Wherever the process dies, another goes on after the last step that has ended. The plan and every sub-run have one
// terminal, and a step that must not run twice does not.
func TestProcessDies(t *testing.T) {
	onSQLite := func(t *testing.T) actors.Journal {
		j, err := sqlite.Open(t.TempDir())
		must(t, err)
		t.Cleanup(func() { j.Close() })
		return j
	}
	for _, c := range []struct {
		name string
		open func(t *testing.T) actors.Journal
		step int64 // from one append to the next
	}{
		{"memory", func(*testing.T) actors.Journal { return journal.NewMemory() }, 1},
		{"sqlite", onSQLite, 7},
	} {
		if testing.Short() {
			c.step *= 3
		}
		for _, idempotent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s idempotent %t", c.name, idempotent), func(t *testing.T) {
				completed := 0
				for at, more := int64(2), true; more && !t.Failed(); at += c.step {
					synctest.Test(t, func(t *testing.T) {
						var end messages.State
						if end, more = dies(t, c.open(t), at, idempotent); end.Status == messages.Completed {
							completed++
						}
					})
				}
				if completed == 0 {
					t.Error("no plan completed")
				}
			})
		}
	}
}

// dies kills a node at its append with the number, and follows the plan to its end at another.
func dies(t *testing.T, journal actors.Journal, at int64, idempotent bool) (end messages.State, struck bool) {
	p := read(t, survivor)
	for i := range p.Steps {
		p.Steps[i].Idempotent = idempotent
	}
	counted, m := &calls{of: map[string]int{}}, newMortal(journal, at)
	node := func(j actors.Journal, alive func() bool) *actors.System {
		config := plan.Config{Jobs: []actors.Definition{counted.job(alive)}}
		s, err := actors.New(t.Context(), actors.Config{Journal: j, HandOver: true, Drain: time.Second,
			Jobs: []actors.Definition{plan.Define(config)}})
		must(t, err)
		return s
	}
	a := node(m, func() bool { return m.dead.Err() == nil })
	input, err := json.Marshal(plan.Input{Plan: p})
	must(t, err)
	id, err := a.Submit(t.Context(), messages.Request{Job: plan.Name, Input: input})
	must(t, err)
	b := node(journal, func() bool { return true })
	defer func() { a.Close(context.Background()); b.Close(context.Background()); time.Sleep(2 * time.Second) }()
	var log []messages.Event
	for e, err := range b.Events(t.Context(), id, 0) {
		if err == nil {
			end, err = end.Apply(e)
		}
		if err != nil {
			t.Fatalf("append %d: %v", at, err)
		}
		log = append(log, e)
	}
	if err := testkit.CheckLog(0, log); err != nil {
		t.Errorf("append %d: %v", at, err)
	}
	for _, child := range end.Children {
		if s, err := b.State(t.Context(), child.Child); err != nil || !s.Status.IsEnded() {
			t.Errorf("append %d: %s ended as %s, %v", at, child.Child, s.Status, err)
		}
	}
	once := map[string]int{"first": 1, "x": 1, "y": 1, "z": 1, "flaky": 2, "loop1": 1, "loop2": 1}
	switch {
	case end.Status == messages.Completed:
		if string(end.End.Result) != `"x!y!z!2"` {
			t.Errorf("append %d: the result is %s", at, end.End.Result)
		}
		for name, n := range counted.of {
			if !idempotent && n != once[name] || n > once[name]+1 {
				t.Errorf("append %d: %s ran %d times", at, name, n)
			}
		}
	case idempotent || end.Status != messages.Failed || end.End.Cause != messages.CauseNodeLost:
		t.Errorf("append %d: %s %+v\n%s", at, end.Status, end.End, transcript(log))
	}
	for name, n := range counted.of {
		if !idempotent && n > once[name] {
			t.Errorf("append %d: %s ran %d times", at, name, n)
		}
	}
	return end, m.dead.Err() != nil
}

// Whatever the plan's task says or does when it crashes, the next attempt goes on after it.
func TestPlanCrashes(t *testing.T) {
	for at, more := 1, true; more && !t.Failed(); at++ {
		synctest.Test(t, func(t *testing.T) { more = crashes(t, at) })
	}
}

func crashes(t *testing.T, at int) (struck bool) {
	counted := &calls{of: map[string]int{}}
	var points atomic.Int64
	var struckAt atomic.Bool
	defer func() { struck = struckAt.Load() }()
	s := faultplan.Open(t, actors.Config{Inject: func(p actors.Point) {
		if p.Actor != "steps" || p.Task == nil || strings.Contains(string(p.Run), ".c") || p.Name == string(messages.KindProgress) {
			return
		}
		if points.Add(1) == int64(at) {
			struckAt.Store(true)
			panic("the plan's actor crashes")
		}
	}})
	w := &world{Config: plan.Config{Jobs: []actors.Definition{counted.job(func() bool { return true })}}}
	events, end := w.carry(t, s, plan.Input{Plan: read(t, survivor)}, nil)
	if end.Status != messages.Completed || string(end.End.Result) != `"x!y!z!2"` {
		t.Errorf("crash %d: %s %+v", at, end.Status, end.End)
	}
	for name, n := range counted.of {
		if want := map[bool]int{true: 2, false: 1}[name == "flaky"]; n != want {
			t.Errorf("crash %d: %s ran %d times", at, name, n)
		}
	}
	lines := strings.Split(strings.TrimSpace(transcript(events)), "\n")
	slices.Sort(lines)
	if again := slices.Compact(slices.Clone(lines)); len(again) != len(lines) {
		t.Errorf("crash %d: a step is told twice:\n%s", at, strings.Join(lines, "\n"))
	}
	return struck
}
