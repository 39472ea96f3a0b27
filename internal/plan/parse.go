package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	form "github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
)

// Problems are the faults of a plan, in the order of its text.
type Problems = validate.FileProblems

var planForm = sync.OnceValue(func() *validate.Schema { return validate.MustCompile(form.Schema()) })

// Limits of a plan, including nested plans. They bound the work of checking it.
const (
	mostBytes       = 1 << 20
	mostSteps       = 5_000
	mostExpressions = 10_000
)

// Parse reads a plan from YAML or JSON. Its error is [Problems] and lists all faults of the form. [Plan.Check] finds
// all other faults, and [Check] finds both.
func Parse(text []byte) (*Plan, error) {
	p, wrong := parse(text)
	if wrong != nil {
		return nil, wrong
	}
	return p, nil
}

// parse is Parse that also returns the plan without the parts whose form is faulty, if possible.
func parse(text []byte) (*Plan, Problems) {
	for _, of := range []struct {
		what       string
		have, most int
	}{{"bytes", len(text), mostBytes}, {"expressions", bytes.Count(text, []byte("${")), mostExpressions}} {
		if of.have > of.most {
			return nil, tooMany(of.what, of.have, of.most)
		}
	}
	p := &Plan{}
	type form Plan // without UnmarshalJSON
	places, wrong, ok := validate.ReadYAML(text, planForm(), (*form)(p))
	if !ok {
		return nil, wrong
	}
	if n := p.size(); n > mostSteps {
		return nil, tooMany("steps", n, mostSteps)
	}
	p.text = places
	return p, wrong
}

// Check reads a plan and reports all its faults: of its form, and of what its steps do.
func Check(text []byte, jobs []actors.Definition) (*Plan, error) {
	p, form := parse(text)
	if p == nil {
		return nil, form
	}
	all := slices.Clone(form)
	unnamed := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Name == "" })
	more, _ := errors.AsType[Problems](p.Check(jobs))
	for _, one := range more {
		reported := slices.ContainsFunc(form, func(p validate.FileProblem) bool { return p.Line == one.Line })
		if !reported && !(unnamed && strings.Contains(one.Problem, "no step")) { // its name may be the faulty part
			all = append(all, one)
		}
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func tooMany(what string, have, most int) Problems {
	return Problems{{Problem: fmt.Sprintf("the plan has %d %s; at most %d are allowed: make several plans of it", have, what, most)}}
}

// size returns the number of steps, including steps of nested plans.
func (p *Plan) size() (n int) {
	for _, s := range p.Steps {
		if n++; s.Plan != nil {
			n += s.Plan.size()
		}
	}
	return n
}

// UnmarshalJSON reads a plan as an object, or as a text for [Parse].
func (p *Plan) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	read, err := Parse(data)
	if err != nil {
		return err
	}
	*p = *read
	return nil
}

// cycles reports each cycle of steps that wait for each other, once.
func (s *scope) cycles() {
	_, cyclic := s.order()
	for i := range s.steps {
		path := []int{}
		for pos := i; cyclic[pos]; { // follow steps that wait for a cycle until one repeats
			if k := slices.Index(path, pos); k >= 0 {
				names := []string{s.steps[pos].Name}
				for _, j := range slices.Backward(path[k:]) {
					names = append(names, s.steps[j].Name)
				}
				s.wrong(s.of(pos, "needs"), "%s is a cycle without a bound; repeat a step, or a plan of steps, with most",
					strings.Join(names, " → "))
				break
			}
			path = append(path, pos)
			before := s.before(pos)
			k := slices.IndexFunc(before, func(j int) bool { return cyclic[j] })
			if k < 0 {
				break
			}
			pos = before[k]
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
