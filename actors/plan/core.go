package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/expression"
	"github.com/seed889630bf/lastword/messages"
)

// Outcome is how a step ended.
type Outcome string

// The outcomes. A step that never started is skipped.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Canceled  Outcome = "canceled"
	Skipped   Outcome = "skipped"
)

// unit is one piece of work: a step, or an item of it.
type unit struct{ step, item int }

// ending is what became of a piece of work.
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
	doAnnounce doing = iota // a step with items began
	doStart                 // a piece of work, after the delay
	doEnd                   // a step, an item, a round or an attempt
	doStop                  // cancels the work, which ends later
	doFinish                // the plan
)

// move is one decision of the core.
type move struct {
	do     doing
	unit   unit
	name   string // of the unit in events
	start  int    // counts the starts of the unit from 1
	delay  time.Duration
	input  any // of a start
	reason string
	// of an end
	outcome Outcome
	next    []string
}

// core decides what follows from the outcomes of the steps. It is pure: it depends on the plan, the parameters and
// the calls of ended in their order alone, so that a log can be replayed.
type core struct {
	*graph
	environment expression.Environment // params and steps
	values      expression.Record      // environment["steps"]
	states      []state
	ready       []unit // that wait until fewer run
	running     int
	left        int      // how many steps have not ended
	failure     *ending  // of the step that ends the plan
	failed      string   // its name
	moves       []move   // since the last call
	over        []ending // unused slots are zero; by step
	fresh       []int    // the moves that end steps, of which nobody has heard
}

// phase is how far a step is.
type phase int

const (
	waiting phase = iota // for its needs
	queued               // in core.ready
	working
	ended
)

// state is the state of one step.
type state struct {
	phase phase
	// open needs have not ended, and completed ones have. The same for the steps whose failure this one waits for.
	open, completed       int
	openSources, failures int
	why                   string // it started
	stopped               string // why its work was cancelled
	work                  []work // of its items; of itself in a step without items
	items                 []any
	results               []any
	next, live, waiting   int // items: the next one, those that run, those in core.ready
	completedItems        int
	broken                *ending
	last                  expression.Data // the values of the last round
}

// work is the state of one unit.
type work struct {
	starts, tries, rounds int
	live                  bool
}

func newCore(g *graph, params map[string]any) *core {
	n := len(g.steps)
	c := &core{graph: g, values: make(expression.Record, n), states: make([]state, n), left: n}
	c.environment = expression.Environment{"params": expression.Of(params), "steps": c.values}
	none := ending{}.values(0, nil)
	for i := range g.steps {
		n := &g.steps[i]
		c.values[n.Name] = none
		c.states[i].open, c.states[i].openSources = len(n.needs), len(n.handles)
	}
	return c
}

// values are what expressions see of a step.
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

// ended takes note of the end of a unit that was started.
func (c *core) ended(u unit, e ending) []move {
	c.running--
	c.states[u.step].work[u.item].live = false
	c.endUnit(u, e)
	return c.settle()
}

// settle tells the steps that wait of those that ended, fills the free places, and returns what was decided.
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

// tell tells the steps that wait for the one that the move ends.
func (c *core) tell(end int) {
	step, how := c.moves[end].unit.step, c.moves[end].outcome
	n := &c.steps[step]
	fails := how == Failed || how == Canceled && c.states[step].stopped == ""
	for _, j := range n.dependents {
		c.states[j].open--
		if how == Completed {
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

// consider starts a step if it has waited for enough, or skips it, and reports whether it started.
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
		k := slices.IndexFunc(n.needs, func(j int) bool { return c.over[j].outcome != Completed })
		name, how := c.steps[n.needs[k]].Name, c.over[n.needs[k]].outcome
		if how != Failed {
			name += " is"
		}
		c.skip(i, fmt.Sprintf("%s %s", name, how))
		return false
	}
	s.why = c.reason(i)
	if n.guard != nil {
		yes, err := n.guard.True(c.environment)
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

// reason says why a step starts now.
func (c *core) reason(i int) string {
	n := &c.steps[i]
	switch {
	case len(n.handles) > 0:
		k := slices.IndexFunc(n.handles, func(j int) bool {
			return c.over[j].outcome == Failed || c.over[j].outcome == Canceled
		})
		return c.steps[n.handles[k]].Name + " failed"
	case len(n.needs) == 0:
		return "the plan begins"
	case c.states[i].completed > 0:
		return c.listed(c.completed(n.needs)) + " completed"
	}
	return c.listed(n.needs) + " ended"
}

func (c *core) completed(needs []int) []int {
	return slices.DeleteFunc(slices.Clone(needs), func(j int) bool { return c.over[j].outcome != Completed })
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

// start puts the step's work into the queue, and reports whether there is any.
func (c *core) start(i int) bool {
	n, s := &c.steps[i], &c.states[i]
	if n.items == nil {
		s.phase, s.work = queued, make([]work, 1)
		c.ready = append(c.ready, unit{step: i})
		return true
	}
	list, err := n.items.Eval(c.environment)
	items, ok := list.([]any)
	if err == nil && !ok {
		err = fmt.Errorf("for_each: the value is %v and not a list", list)
	}
	if err == nil && len(items) > mostItems {
		err = fmt.Errorf("for_each: the list has %d items; it may have %d", len(items), mostItems)
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

var notRun = ending{outcome: Skipped}.values(0, nil)

func (c *core) announce(i int) {
	c.states[i].phase = working
	c.moves = append(c.moves, move{do: doAnnounce, unit: unit{step: i}, name: c.steps[i].Name, reason: c.states[i].why})
}

// startItems puts as many items into the queue as may run, or ends the step.
func (c *core) startItems(i int) {
	n, s := &c.steps[i], &c.states[i]
	for s.stopped == "" && s.next < len(s.items) && (n.Limit == 0 || s.live+s.waiting < n.Limit) && s.waiting < c.limit {
		c.ready = append(c.ready, unit{i, s.next})
		s.next++
		s.waiting++
	}
	if s.live+s.waiting == 0 && s.phase == working {
		e := ending{outcome: Completed}
		switch {
		case s.broken != nil:
			e = *s.broken
		case s.completedItems < len(s.items):
			e.outcome, e.message = Canceled, s.stopped
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
	c.inside(u, func(environment expression.Environment) { input, err = n.input.Eval(environment) })
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

// inside calls f with the environment of a unit. Only there a step of several rounds has the values of the last one.
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

// name is the name of a unit in the events.
func (c *core) name(u unit) string {
	if c.steps[u.step].items == nil {
		return c.steps[u.step].Name
	}
	return fmt.Sprintf("%s[%d]", c.steps[u.step].Name, u.item)
}

func invalid(err error) ending {
	return ending{outcome: Failed, cause: messages.CauseInvalidInput, message: err.Error()}
}
