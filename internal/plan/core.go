package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
	"github.com/seed889630bf/lastword/messages"
)

// Outcome is how a step ended.
type Outcome string

// The outcomes. A step that never started is skipped.
const (
	completed Outcome = "completed"
	failed    Outcome = "failed"
	canceled  Outcome = "canceled"
	skipped   Outcome = "skipped"
)

// unit is one piece of work: a step, or one item of a step.
type unit struct{ step, item int }

// ending is the outcome of a unit.
type ending struct {
	outcome   Outcome
	cause     messages.Code
	message   string
	run       messages.RunID
	result    any
	artifacts []any
	seconds   float64
}

// doing is what a move does.
type doing int

const (
	doAnnounce doing = iota // a step with items has begun
	doStart                 // start a unit after the delay
	doEnd                   // end a step, an item, a round or an attempt
	doStop                  // cancel a unit's work, which ends later
	doFinish                // end the plan
)

// move is one decision of the core. Which fields are set depends on do.
type move struct {
	do     doing
	unit   unit
	name   string // name of the unit in events
	start  int    // counts the starts of the unit, from 1
	delay  time.Duration
	input  any // for a start
	reason string
	// The fields below are for an end.
	outcome Outcome
	next    []string
}

// core decides what follows from the outcomes of the steps.
//
// It is pure: it depends only on the plan, the parameters, and the order of the calls of ended. So a log can be
// replayed. It has no lock, because one goroutine uses it.
type core struct {
	*graph
	ctx         context.Context // ends evaluations; what follows then is not carried out
	budget      *expression.Budget
	environment expression.Environment // params and steps
	values      expression.Record      // value of steps in the environment
	states      []state
	ready       []unit // units that wait until fewer are running
	running     int
	left        int      // number of steps that have not ended
	failure     *ending  // of the step that ends the plan; nil if none does
	failed      string   // name of that step
	moves       []move   // decided since the last call
	over        []ending // endings by step; zero for steps that have not ended
	fresh       []int    // indexes of moves that end steps which no other step was told of
}

// phase is the progress of a step.
type phase int

const (
	waiting phase = iota // for the steps that it needs
	queued               // in core.ready
	working
	ended
)

// state is the progress of one step.
type state struct {
	phase phase
	// open is the number of needs that have not ended, completed the number that have completed. openSources and
	// failures are the same for the steps whose failure this one waits for.
	open, completed       int
	openSources, failures int
	why                   string // why it started
	stopped               string // why its work was cancelled
	work                  []work // by item; of the step itself if it has no items
	items                 []any
	results               []any
	next, live, waiting   int // items: the next one, the number that run, the number in core.ready
	completedItems        int
	broken                *ending         // the first failed item
	last                  expression.Data // values of the last round
}

// work is the progress of one unit.
type work struct {
	starts, tries, rounds int
	live                  bool
}

// newCore returns the state before the first step. Steps that have not ended have empty values in the environment.
func newCore(g *graph, params map[string]any) *core {
	n := len(g.steps)
	c := &core{graph: g, ctx: context.Background(), values: make(expression.Record, n), states: make([]state, n), left: n}
	c.environment = expression.Environment{"params": expression.Of(params), "steps": c.values}
	none := ending{}.values(0, nil)
	for i := range g.steps {
		n := &g.steps[i]
		c.values[n.Name] = none
		c.states[i].open, c.states[i].openSources = len(n.needs), len(n.handles)
	}
	return c
}

// values returns what expressions see of a step.
func (e ending) values(rounds int, results []any) expression.Data {
	return expression.Of(map[string]any{"outcome": string(e.outcome), "cause": string(e.cause), "error": e.message,
		"run": string(e.run), "result": e.result, "results": results, "artifacts": e.artifacts, "seconds": e.seconds, "rounds": rounds})
}

// begin starts the steps that wait for nothing.
func (c *core) begin() []move {
	for i := range c.steps {
		if len(c.steps[i].needs)+len(c.steps[i].handles) == 0 {
			c.consider(i)
		}
	}
	return c.settle()
}

// ended records the end of a unit that was started.
func (c *core) ended(u unit, e ending) []move {
	c.running--
	c.states[u.step].work[u.item].live = false
	c.endUnit(u, e)
	return c.settle()
}

// settle tells waiting steps which steps have ended, starts queued units, and returns the decisions.
func (c *core) settle() []move {
	for {
		for len(c.fresh) > 0 {
			end := c.fresh[0]
			c.fresh = c.fresh[1:]
			c.tell(end)
		}
		if len(c.ready) == 0 || c.running >= c.limit {
			break
		}
		u := c.ready[0]
		c.ready = c.ready[1:]
		if c.steps[u.step].items != nil {
			c.states[u.step].waiting--
		}
		c.launch(u, 0, c.states[u.step].why)
	}
	if c.left == 0 {
		c.left = -1
		c.moves = append(c.moves, move{do: doFinish})
	}
	moves := c.moves
	c.moves = nil
	return moves
}

// tell tells the steps that wait for the step which the move ends.
func (c *core) tell(end int) {
	step, how := c.moves[end].unit.step, c.moves[end].outcome
	n := &c.steps[step]
	fails := how == failed || how == canceled && c.states[step].stopped == ""
	for _, j := range n.dependents {
		c.states[j].open--
		if how == completed {
			c.states[j].completed++
		}
	}
	for _, j := range n.handlers {
		c.states[j].openSources--
		if fails {
			c.states[j].failures++
		}
	}
	for _, j := range slices.Concat(n.dependents, n.handlers) {
		if c.consider(j) {
			c.moves[end].next = append(c.moves[end].next, c.steps[j].Name)
		}
	}
}

// consider starts a step that has waited for enough, or skips it. It reports whether the step has started.
func (c *core) consider(i int) bool {
	n, s := &c.steps[i], &c.states[i]
	if s.phase != waiting {
		return false
	}
	early := n.Join == Any || n.Join == First
	switch {
	case len(n.handles) > 0 && s.failures == 0:
		if s.openSources == 0 {
			c.skip(i, "no failure of "+c.listed(n.handles))
		}
		return false
	case early && s.completed > 0:
	case s.open > 0:
		return false
	case n.guard != nil:
	case early:
		c.skip(i, "none of "+c.listed(n.needs)+" completed")
		return false
	case s.completed < len(n.needs):
		k := slices.IndexFunc(n.needs, func(j int) bool { return c.over[j].outcome != completed })
		name, how := c.steps[n.needs[k]].Name, c.over[n.needs[k]].outcome
		if how != failed {
			name += " is"
		}
		c.skip(i, fmt.Sprintf("%s %s", name, how))
		return false
	}
	s.why = c.reason(i)
	if n.guard != nil {
		yes, err := n.guard.True(c.ctx, c.budget, c.environment)
		if err != nil {
			c.announce(i)
			c.endStep(i, invalid(err))
			return false
		}
		if !yes {
			c.skip(i, n.guard.String()+" is false")
			return false
		}
		s.why += ", and " + n.guard.String()
	}
	if n.Join == First {
		for _, j := range n.needs {
			c.stop(j, n.Name+" goes on with "+c.listed(c.completed(n.needs)))
		}
	}
	return c.start(i)
}

// reason describes why a step starts now.
func (c *core) reason(i int) string {
	n := &c.steps[i]
	switch {
	case len(n.handles) > 0:
		k := slices.IndexFunc(n.handles, func(j int) bool {
			return c.over[j].outcome == failed || c.over[j].outcome == canceled
		})
		return c.steps[n.handles[k]].Name + " failed"
	case len(n.needs) == 0:
		return "the plan begins"
	case c.states[i].completed > 0:
		return c.listed(c.completed(n.needs)) + " completed"
	}
	return c.listed(n.needs) + " ended"
}

// completed returns the needs that have completed.
func (c *core) completed(needs []int) []int {
	return slices.DeleteFunc(slices.Clone(needs), func(j int) bool { return c.over[j].outcome != completed })
}

// listed names the first few of the steps.
func (c *core) listed(steps []int) string {
	names := make([]string, 0, 5)
	for k, j := range steps {
		if k == 4 {
			names = append(names, fmt.Sprintf("%d more", len(steps)-k))
			break
		}
		names = append(names, c.steps[j].Name)
	}
	return strings.Join(names, ", ")
}

// start queues the step's work, and reports whether there is any.
func (c *core) start(i int) bool {
	n, s := &c.steps[i], &c.states[i]
	if n.items == nil {
		s.phase, s.work = queued, make([]work, 1)
		c.ready = append(c.ready, unit{step: i})
		return true
	}
	list, err := n.items.Eval(c.ctx, c.budget, c.environment)
	items, ok := list.([]any)
	if err == nil && !ok {
		err = fmt.Errorf("for_each: the value is %v and not a list", list)
	}
	if err == nil && len(items) > mostItems {
		err = fmt.Errorf("for_each: the list has %d items; at most %d are allowed", len(items), mostItems)
	}
	if err != nil {
		c.announce(i)
		c.endStep(i, invalid(err))
		return false
	}
	if s.phase = queued; len(items) == 0 {
		c.announce(i)
	}
	s.items, s.work, s.results = items, make([]work, len(items)), make([]any, len(items))
	for k := range s.results {
		s.results[k] = notRun
	}
	c.startItems(i)
	return true
}

// mostItems bounds the items of one step.
const mostItems = 10_000

// notRun is what expressions see of a step that has not run.
var notRun = ending{outcome: skipped}.values(0, nil)

func (c *core) announce(i int) {
	c.states[i].phase = working
	c.moves = append(c.moves, move{do: doAnnounce, unit: unit{step: i}, name: c.steps[i].Name, reason: c.states[i].why})
}

// startItems queues as many items as may run, or ends the step.
func (c *core) startItems(i int) {
	n, s := &c.steps[i], &c.states[i]
	for s.stopped == "" && s.next < len(s.items) && (n.Limit == 0 || s.live+s.waiting < n.Limit) && s.waiting < c.limit {
		c.ready = append(c.ready, unit{i, s.next})
		s.next++
		s.waiting++
	}
	if s.live+s.waiting == 0 && s.phase == working {
		e := ending{outcome: completed}
		switch {
		case s.broken != nil:
			e = *s.broken
		case s.completedItems < len(s.items):
			e.outcome, e.message = canceled, s.stopped
		}
		c.endStep(i, e)
	}
}

// launch starts a unit.
func (c *core) launch(u unit, delay time.Duration, why string) {
	n, s := &c.steps[u.step], &c.states[u.step]
	w := &s.work[u.item]
	w.starts++
	w.tries++
	w.live = true
	if n.items != nil && s.phase == queued {
		c.announce(u.step)
	}
	s.phase = working
	s.live++
	c.running++
	var input any
	var err error
	c.inside(u, func(environment expression.Environment) { input, err = n.input.Eval(c.ctx, c.budget, environment) })
	m := move{do: doStart, unit: u, name: c.name(u), start: w.starts, delay: delay, input: input, reason: why}
	if err != nil {
		m.do, m.delay, m.input = doAnnounce, 0, nil
	}
	c.moves = append(c.moves, m)
	if err != nil {
		c.running--
		w.live = false
		c.endUnit(u, invalid(err))
	}
}

// inside calls f with the environment of a unit. Only inside it, a step of several rounds sees the values of its last
// round.
func (c *core) inside(u unit, f func(environment expression.Environment)) {
	n, s := &c.steps[u.step], &c.states[u.step]
	environment := c.environment
	switch {
	case n.items != nil:
		environment = maps.Clone(environment)
		environment["item"], environment["index"] = expression.Of(s.items[u.item]), expression.Of(u.item)
	case n.Repeat != nil:
		environment = maps.Clone(environment)
		environment["round"] = expression.Of(s.work[0].rounds + 1)
		if s.last != nil {
			outside := c.values[n.Name]
			c.values[n.Name] = s.last
			defer func() { c.values[n.Name] = outside }()
		}
	}
	f(environment)
}

// name returns the name of a unit in the events.
func (c *core) name(u unit) string {
	if c.steps[u.step].items == nil {
		return c.steps[u.step].Name
	}
	return fmt.Sprintf("%s[%d]", c.steps[u.step].Name, u.item)
}

// invalid returns the ending of a unit whose input or guard is invalid.
func invalid(err error) ending {
	return ending{outcome: failed, cause: causeOf(err), message: err.Error()}
}

// causeOf returns the cause of a failed evaluation.
func causeOf(err error) messages.Code {
	if errors.Is(err, expression.ErrSpent) {
		return messages.CauseLimitExceeded
	}
	return messages.CauseInvalidInput
}
