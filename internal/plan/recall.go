package plan

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// past is what a run's log says about the plan.
type past struct {
	began    time.Time
	said     map[said]int
	order    []pastWork       // the ends, in order
	at       map[pastWork]int // positions in order
	ended    map[pastWork]messages.StepEnded
	children map[string]messages.RunID // by name
	answers  map[string]json.RawMessage
	begun    map[pastWork]time.Time
	texts    map[string]string   // of messages, by name
	heard    map[string][]string // messages, by who received them
	earlier  messages.RunID      // the run whose ends it keeps
}

// said is an announcement in the log: that a step ended or, otherwise, that it started.
type said struct {
	step  string
	ended bool
}

// pastWork is one start of a unit; start counts from 1.
type pastWork struct {
	name  string
	start int
}

// recall reads the events of a run.
func recall(events iter.Seq2[messages.Event, error]) (past, error) {
	p := past{said: map[said]int{}, at: map[pastWork]int{}, ended: map[pastWork]messages.StepEnded{}, children: map[string]messages.RunID{},
		answers: map[string]json.RawMessage{}, begun: map[pastWork]time.Time{}, texts: map[string]string{}, heard: map[string][]string{}}
	for e, err := range events {
		if err != nil {
			return p, err
		}
		switch b := e.Body.(type) {
		case messages.RunQueued:
			p.began = e.Time
			if b.Job != Name {
				return p, messages.InvalidInput("the run %s is of the job %s, and not of a plan", e.RunID, b.Job)
			}
			var in struct{ Run messages.RunID }
			_ = json.Unmarshal(b.Input, &in) // an input without a run has none
			p.earlier = in.Run
		case messages.StepStarted:
			key := said{b.Step, false}
			p.said[key]++
			p.begun[pastWork{b.Step, p.said[key]}] = e.Time
		case messages.StepEnded:
			key := said{b.Step, true}
			p.said[key]++
			work := pastWork{b.Step, p.said[key]}
			p.at[work] = len(p.order)
			p.order = append(p.order, work)
			p.ended[work] = b
		case messages.ChildStarted:
			p.children[b.Name] = b.Child
		case messages.MessageQueued:
			p.texts[b.Message] = b.Content
		case messages.MessageDelivered:
			p.heard[b.At] = append(p.heard[b.At], p.texts[b.Message])
		case messages.InputReceived:
			name, _, _ := strings.Cut(b.Request, "?")
			p.answers[name] = b.Value
		}
	}
	return p, nil
}

// skips reports whether the log has the announcement already, and removes it from those to skip.
func (p *past) skips(what said) bool {
	if p.said[what] == 0 {
		return false
	}
	p.said[what]--
	return true
}

// replay gives the core the ends that are in the log, in their order. The ended sub-runs are found by name.
func (r *runner) replay() error {
	for _, key := range r.past.order {
		m, ok := r.replayed[key]
		if !ok {
			continue // a step that never started, or one with items
		}
		delete(r.replayed, key)
		outcome := r.past.ended[key]
		e := ending{outcome: Outcome(outcome.Outcome), cause: messages.CauseError, message: outcome.Reason}
		if r.earlier.keeps(r.core, m) {
			var err error
			if e, err = r.kept(m); err != nil {
				return err
			}
		} else if n := &r.core.steps[m.unit.step]; n.Ask != nil || n.Receive != nil && e.outcome == completed || r.past.children[childName(m)] != "" {
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

// earlierRun is a run of the plan whose ends this run keeps.
type earlierRun struct {
	id   messages.RunID
	anew []bool // the steps that run again, whatever their earlier outcome
}

// keeps reports whether the unit ended in the earlier run with an outcome that counts.
func (e *earlier) keeps(c *core, m move) bool {
	n := &c.steps[m.unit.step]
	_, ended := e.ended[pastWork{m.name, m.start}]
	last := Outcome(e.ended[pastWork{m.name, e.said[said{m.name, true}]}].Outcome)
	return ended && !e.anew[m.unit.step] && (last == completed || last == failed && n.goesOn)
}

// earlier is the earlier run with its log.
type earlier struct {
	earlierRun
	past
	waiting []move // units that it ended and that the core does not know yet
}

// next takes the unit that ended first.
func (e *earlier) next() (first move, ok bool) {
	if len(e.waiting) == 0 {
		return first, false
	}
	at := func(m move) int { return e.at[pastWork{m.name, m.start}] }
	first = slices.MinFunc(e.waiting, func(a, b move) int { return at(a) - at(b) })
	e.waiting = stable.DeleteFunc(e.waiting, func(m move) bool { return at(m) == at(first) })
	return first, true
}

// kept returns the ending of a unit in the earlier run.
func (r *runner) kept(m move) (ending, error) {
	outcome := r.earlier.ended[pastWork{m.name, m.start}]
	e := ending{outcome: Outcome(outcome.Outcome), cause: messages.CauseError, message: outcome.Reason}
	if answer, ok := r.earlier.answers[childName(m)]; ok {
		return e, json.Unmarshal(answer, &e.result)
	}
	if n := &r.core.steps[m.unit.step]; n.Receive != nil {
		for _, text := range r.earlier.heard[childName(m)] {
			if value, problems := n.Receive.read(text); problems == nil {
				e.result = value
				return e, nil
			}
		}
	}
	child, ok := r.earlier.children[childName(m)]
	switch {
	case !ok && e.outcome == completed:
		return e, messages.Errorf(messages.CodeNotFound, "the outcome of %s is no longer stored; run from %s", m.name, m.name)
	case !ok:
		return e, nil // it failed before its run began
	}
	state, err := r.runs.State(r.ctx, child)
	if err != nil {
		return e, err
	}
	return endingOf(state), nil
}

// recallEarlier reads the run that this run continues, and the runs whose ends that one has kept.
func (r *runner) recallEarlier() error {
	for id := r.earlier.id; id != ""; {
		if r.runs == nil {
			return messages.InvalidInput("plans cannot read earlier runs here; leave from and run out")
		}
		state, err := r.runs.State(r.ctx, id)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound && id != r.earlier.id:
			return nil // kept says if an outcome is missing
		case err != nil:
			return err
		case !state.Status.IsEnded():
			return messages.InvalidInput("the run %s has not ended; wait for its end, or cancel it", id)
		}
		log, err := recall(r.runs.Events(r.ctx, id, 0))
		if err != nil {
			return err
		}
		if id == r.earlier.id {
			r.earlier.past = log
		}
		maps.Copy(log.children, r.earlier.children)
		maps.Copy(log.heard, r.earlier.heard)
		maps.Copy(log.answers, r.earlier.answers)
		r.earlier.children, r.earlier.heard, r.earlier.answers = log.children, log.heard, log.answers
		id = log.earlier
	}
	return nil
}
