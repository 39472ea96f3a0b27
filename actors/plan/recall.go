package plan

import (
	"context"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// past is what earlier attempts have written into the run's log.
type past struct {
	said     map[said]int
	order    []pastWork // the ends, in their order
	ended    map[pastWork]messages.StepEnded
	children map[string]bool // the names of sub-runs
}

// said is what the log says of a step: that it ended, or else that it started.
type said struct {
	step  string
	ended bool
}

// pastWork is a start of a unit, counted from 1.
type pastWork struct {
	name  string
	start int
}

// recall reads what the log holds of earlier attempts.
func recall(ctx context.Context, t *actors.TaskContext) (past, error) {
	p := past{said: map[said]int{}, ended: map[pastWork]messages.StepEnded{}, children: map[string]bool{}}
	for e, err := range t.Earlier(ctx) {
		if err != nil {
			return p, err
		}
		switch b := e.Body.(type) {
		case messages.StepStarted:
			p.said[said{b.Step, false}]++
		case messages.StepEnded:
			key := said{b.Step, true}
			p.said[key]++
			work := pastWork{b.Step, p.said[key]}
			p.order = append(p.order, work)
			p.ended[work] = b
		case messages.ChildStarted:
			p.children[b.Name] = true
		}
	}
	return p, nil
}

// skips reports whether the log says it already, and takes it from what is left to say.
func (p *past) skips(what said) bool {
	if p.said[what] == 0 {
		return false
	}
	p.said[what]--
	return true
}

// replay gives the core the ends in the log, in their order. The sub-runs have ended; they are found by their names.
func (r *runner) replay() error {
	for _, key := range r.past.order {
		m, ok := r.replayed[key]
		if !ok {
			continue // a step that never started, or one with items
		}
		delete(r.replayed, key)
		said := r.past.ended[key]
		e := ending{outcome: Outcome(said.Outcome), cause: messages.CauseError, message: said.Reason}
		if n := &r.core.steps[m.unit.step]; n.Ask != nil || r.past.children[childName(m)] {
			e = r.work(r.ctx, m)
		}
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		if err := r.arrived(arrival{unit: m.unit, ending: e}); err != nil {
			return err
		}
	}
	r.past.order, r.past.ended, r.past.children = nil, nil, nil
	return nil
}
