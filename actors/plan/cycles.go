package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// cycles reports each cycle of steps that wait for each other, once.
func (s *scope) cycles() {
	_, cyclic := s.order()
	for i := range s.steps {
		path := []int{}
		for at := i; cyclic[at]; { // follow steps that wait for a cycle until one repeats
			if k := slices.Index(path, at); k >= 0 {
				names := []string{s.steps[at].Name}
				for _, j := range slices.Backward(path[k:]) {
					names = append(names, s.steps[j].Name)
				}
				s.wrong(s.of(at, "needs"), "%s is a cycle without a bound; repeat a step, or a plan of steps, with most",
					strings.Join(names, " → "))
				break
			}
			path = append(path, at)
			before := s.before(at)
			k := slices.IndexFunc(before, func(j int) bool { return cyclic[j] })
			if k < 0 {
				break
			}
			at = before[k]
		}
		for _, j := range path {
			cyclic[j] = false
		}
	}
}

// unreachable reports steps that can never run, whatever the outcomes of the others.
func (s *scope) unreachable() {
	order, cyclic := s.order()
	never := make([]string, len(s.steps)) // the reason, by step
	for i, c := range cyclic {
		if c {
			never[i] = "it waits for a cycle"
		}
	}
	for _, i := range order {
		n := &s.steps[i]
		dead := func(j int) bool { return never[j] != "" }
		switch {
		case n.guard != nil && n.guard.Never():
			never[i] = "its guard is always false"
		case len(n.handles) > 0 && !slices.ContainsFunc(n.handles, func(j int) bool { return !dead(j) }):
			never[i] = "the steps whose failure it waits for never run"
		case n.guard != nil || len(n.needs) == 0:
		case n.Join == Any || n.Join == First:
			if !slices.ContainsFunc(n.needs, func(j int) bool { return !dead(j) }) {
				never[i] = "none of its needs ever runs"
			}
		default:
			if k := slices.IndexFunc(n.needs, dead); k >= 0 {
				never[i] = fmt.Sprintf("it needs %s, which never runs", s.steps[n.needs[k]].Name)
			}
		}
	}
	for i, why := range never {
		if why != "" {
			s.wrong(s.of(i, "name"), "%s is unreachable: %s", s.steps[i].Name, why)
		}
	}
}

// Order lists the indexes of a checked plan's steps, each after those that it waits for.
func (p *Plan) Order() []int {
	order, _ := new(compiler).compile(p, "").order()
	return order
}

// order lists the steps, each after those that it waits for. It marks the steps that wait for a cycle.
func (g *graph) order() (order []int, cyclic []bool) {
	open := make([]int, len(g.steps))
	after := make([][]int, len(g.steps))
	for i := range g.steps {
		for _, j := range g.before(i) {
			open[i]++
			after[j] = append(after[j], i)
		}
		if open[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, i := range after[order[k]] {
			if open[i]--; open[i] == 0 {
				order = append(order, i)
			}
		}
	}
	cyclic = make([]bool, len(g.steps))
	for i, n := range open {
		cyclic[i] = n > 0
	}
	return order, cyclic
}

// after marks the step, and all steps that wait for it directly or indirectly.
func (g *graph) after(name string) ([]bool, error) {
	if name == "" {
		return nil, nil
	}
	step := slices.IndexFunc(g.steps, func(n node) bool { return n.Name == name })
	if step < 0 {
		return nil, messages.InvalidInput("the plan has no step %s to run from", name)
	}
	return reach(len(g.steps), step, func(i int) []int { return slices.Concat(g.steps[i].dependents, g.steps[i].handlers) }), nil
}

// reach marks the first step, and all that next leads to directly or indirectly.
func reach(steps, first int, next func(int) []int) []bool {
	marked := make([]bool, steps)
	marked[first] = true
	for todo := []int{first}; len(todo) > 0; todo = todo[1:] {
		for _, i := range next(todo[0]) {
			if !marked[i] {
				marked[i] = true
				todo = append(todo, i)
			}
		}
	}
	return marked
}
