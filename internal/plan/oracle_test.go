package plan

import (
	"context"
	"fmt"
	"github.com/seed889630bf/lastword/actors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// oracle is the rules of a plan in one page: what is true of each step is asked again and again until nothing changes.
type oracle struct {
	*graph
	steps  []told
	failed bool
}

// told is what the oracle knows of a step: how it ended, and its units that run, by item, with their starts.
type told struct {
	over                  Outcome
	begun, stopped, bad   bool
	live                  map[int]int
	starts, tries, rounds map[int]int
	next, good            int
}

func newOracle(g *graph) *oracle {
	o := &oracle{graph: g, steps: make([]told, len(g.steps))}
	for i := range o.steps {
		o.steps[i] = told{live: map[int]int{}, starts: map[int]int{}, tries: map[int]int{}, rounds: map[int]int{}}
	}
	o.settle()
	return o
}

func (o *oracle) end(i int, how Outcome) {
	o.steps[i].over = how
	if o.failed || o.graph.steps[i].goesOn || how == completed || how == skipped || how == canceled && o.steps[i].stopped {
		return
	}
	o.failed = true
	for j := range o.steps {
		o.stop(j)
	}
}

func (o *oracle) stop(i int) {
	s := &o.steps[i]
	switch {
	case s.over != "" || s.stopped:
		return
	case len(s.starts) == 0:
		o.end(i, skipped)
	}
	s.stopped = true
}

func (o *oracle) run(i, item int) {
	s := &o.steps[i]
	s.starts[item]++
	s.tries[item]++
	s.live[item] = s.starts[item]
}

func (o *oracle) settle() {
	for changed := true; changed; {
		changed = false
		for i := range o.steps {
			if s := &o.steps[i]; s.over == "" && !s.begun {
				switch o.may(i) {
				case "skip":
					o.end(i, skipped)
					changed = true
				case "start":
					s.begun, changed = true, true
					if o.graph.steps[i].Join == First {
						for _, j := range o.graph.steps[i].needs {
							o.stop(j)
						}
					}
				}
			}
		}
	}
	ends := false
	for i := range o.steps { // what has begun fills its places
		n, s := &o.graph.steps[i], &o.steps[i]
		items := 1
		if n.items != nil {
			list, _ := n.items.Eval(context.Background(), nil, nil)
			items = len(list.([]any))
		}
		for s.begun && s.over == "" && !s.stopped && s.next < items && (n.Limit == 0 || len(s.live) < n.Limit) {
			o.run(i, s.next)
			s.next++
		}
		if n.items != nil && s.begun && s.over == "" && len(s.live) == 0 {
			ends = true
			switch {
			case s.bad:
				o.end(i, failed)
			case s.good < items:
				o.end(i, canceled)
			default:
				o.end(i, completed)
			}
		}
	}
	if ends {
		o.settle()
	}
}

// may says whether the step starts now, is skipped, or waits.
func (o *oracle) may(i int) string {
	n := &o.graph.steps[i]
	count := func(of []int, how ...Outcome) (k int) {
		for _, j := range of {
			if slices.Contains(how, o.steps[j].over) {
				k++
			}
		}
		return k
	}
	all := []Outcome{completed, failed, canceled, skipped}
	ended, completed := count(n.needs, all...), count(n.needs, completed)
	early := n.Join == Any || n.Join == First
	failures := slices.ContainsFunc(n.handles, func(j int) bool {
		return o.steps[j].over == failed || o.steps[j].over == canceled && !o.steps[j].stopped
	})
	switch {
	case len(n.handles) > 0 && !failures && count(n.handles, all...) == len(n.handles):
		return "skip"
	case len(n.handles) > 0 && !failures, !(early && completed > 0) && ended < len(n.needs):
		return "wait"
	case n.guard != nil: // the guards of these plans ask for the outcome of a need
		name, how, _ := strings.Cut(strings.TrimPrefix(n.If, "steps."), ".outcome == ")
		j := slices.IndexFunc(o.graph.steps, func(n node) bool { return n.Name == name })
		if fmt.Sprintf("%q", o.steps[j].over) != how {
			return "skip"
		}
	case early && completed == 0, !early && completed < len(n.needs):
		return "skip"
	}
	return "start"
}

func (o *oracle) ended(i, item int, e ending) {
	n, s := &o.graph.steps[i], &o.steps[i]
	delete(s.live, item)
	done := e.outcome == completed
	switch {
	case !done && !s.stopped && n.triesAgain(e.cause, s.tries[item]):
		o.run(i, item)
	case done && n.Repeat != nil && !s.stopped && s.rounds[item]+1 < n.Repeat.Most:
		s.rounds[item]++
		s.tries[item] = 0
		o.run(i, item)
	case n.items == nil && !done && s.stopped:
		o.end(i, canceled)
	case n.items == nil:
		o.end(i, e.outcome)
	case !done && !s.stopped:
		s.bad = true
		s.stopped = !n.goesOn
	}
	if n.items != nil && done {
		s.good++
	}
	o.settle()
}

// drawn makes a plan.
func drawn(r *rand.Rand) *Plan {
	p := &Plan{Limit: 900}
	n := 1 + r.IntN(9)
	for i := range n {
		s := Step{Name: fmt.Sprint("s", i), Job: "any"}
		for j := range i {
			if r.IntN(3) == 0 {
				s.Needs = append(s.Needs, fmt.Sprint("s", j))
			}
		}
		if len(s.Needs) > 0 {
			s.Join = []joinRule{"", allJoin, Any, First}[r.IntN(4)]
			if r.IntN(3) == 0 {
				outcomes := []Outcome{completed, failed, skipped}
				if s.Join == Any || s.Join == First {
					outcomes = outcomes[:1] // the others may come in any order
				}
				s.If = fmt.Sprintf("steps.%s.outcome == %q", s.Needs[r.IntN(len(s.Needs))], outcomes[r.IntN(len(outcomes))])
			}
		}
		switch r.IntN(6) {
		case 0:
			s.OnFailure = Names{Continue}
		case 1:
			if i+1 < n {
				s.OnFailure = Names{fmt.Sprint("s", i+1+r.IntN(n-i-1))}
			}
		}
		if r.IntN(3) == 0 {
			s.Retry = &retry{Attempts: 1 + r.IntN(3)}
		}
		s.Idempotent = r.IntN(2) == 0
		switch r.IntN(5) {
		case 0:
			s.Repeat = &repeat{Most: 1 + r.IntN(3)}
		case 1:
			s.ForEach = make([]any, 1+r.IntN(3))
			s.Limit = r.IntN(3)
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// history carries out a drawn plan with drawn outcomes, and compares the core and the oracle after each end.
func history(t *testing.T, seed uint64) (moves int) {
	r := rand.New(rand.NewPCG(seed, 0))
	p := drawn(r)
	g, err := compile(p, []actors.Definition{{Name: "any"}})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	c, o := newCore(g, nil), newOracle(g)
	live, over := map[string]unit{}, map[string]Outcome{}
	finished := false
	take := func(all []move) {
		for _, m := range all {
			moves++
			switch {
			case m.do == doStart:
				live[fmt.Sprintf("%s#%d", m.name, m.start)] = m.unit
			case m.do == doFinish:
				finished = true
			case m.do == doEnd && m.name == g.steps[m.unit.step].Name && !slices.Equal(m.next, []string{m.name}):
				over[m.name] = m.outcome
			}
		}
	}
	take(c.begin())
	for {
		var want, have []string
		for i, s := range o.steps {
			if s.over != "" {
				want = append(want, fmt.Sprintf("%s is %s", g.steps[i].Name, s.over))
			}
			for item, start := range s.live {
				want = append(want, fmt.Sprintf("%s#%d", c.name(unit{i, item}), start))
			}
		}
		for name, how := range over {
			have = append(have, fmt.Sprintf("%s is %s", name, how))
		}
		running := slices.Sorted(maps.Keys(live))
		have = append(have, running...)
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(have, want) || finished != (len(running) == 0) || finished && (c.failure != nil) != o.failed {
			t.Fatalf("seed %d: the core has\n%s\nand the oracle\n%s", seed, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
		if finished {
			return moves
		}
		name := running[r.IntN(len(running))]
		u := live[name]
		delete(live, name)
		e := ending{outcome: completed}
		switch r.IntN(8) {
		case 0, 1:
			e = ending{outcome: failed, cause: []messages.Code{messages.CauseProviderError, messages.CauseError, messages.CauseNodeLost}[r.IntN(3)]}
		case 2:
			e = ending{outcome: canceled, cause: messages.CauseCanceledByUser}
		}
		take(c.ended(u, e))
		o.ended(u.step, u.item, e)
	}
}

// Whatever the plan, the outcomes and their order: the core decides as the oracle does, and every plan ends.
func TestSimPlans(t *testing.T) {
	plans := uint64(2_000)
	if os.Getenv("LASTWORD_SIM") != "" {
		plans = 100_000
	}
	moves := 0
	for seed := range plans {
		moves += history(t, seed)
	}
	t.Logf("%d plans with %d moves", plans, moves)
}
