package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// graph is a checked plan that is ready to run.
type graph struct {
	plan   *Plan
	limit  int
	steps  []node
	result *expression.Template
}

// node is a step with its connections, as indexes of steps.
type node struct {
	*Step
	needs, dependents []int
	handlers, handles []int // the steps of OnFailure, and the steps that list this one there
	goesOn            bool  // a failure of this step does not end the plan
	guard, until      *expression.Expression
	items, input      *expression.Template
}

// Check returns all faults of the plan, as [Problems], or nil. jobs are the jobs that steps may start.
func (p *Plan) Check(jobs []actors.Definition) error {
	_, err := compile(p, jobs)
	return err
}

// jobOf returns the job with the name, or nil.
func jobOf(jobs []actors.Definition, name string) *actors.Definition {
	i := slices.IndexFunc(jobs, func(d actors.Definition) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &jobs[i]
}

// compile checks a plan and makes its graph.
func compile(p *Plan, jobs []actors.Definition) (*graph, error) {
	c := &compiler{jobs: jobs, at: p.text}
	if p.text == nil { // a Go value, whose form was not checked by Parse
		data, err := json.Marshal(p)
		if err != nil {
			return nil, Problems{{Problem: "the plan is not JSON: " + err.Error()}}
		}
		var value any
		if err := errors.Join(json.Unmarshal(data, &value), validate.Places{}.Check(planForm(), value).Err()); err != nil {
			return nil, err
		}
	}
	g := c.compile(p, "")
	return g, c.problems.Err()
}

// compiler turns plans into graphs, and collects their problems.
type compiler struct {
	jobs     []actors.Definition
	at       validate.Places
	problems Problems
}

func (c *compiler) wrong(path, format string, args ...any) {
	c.problems = append(c.problems, c.at.Problem(path, format, args...))
}

// scope is what the steps of one plan may refer to.
type scope struct {
	*compiler
	*graph
	path      string
	index     map[string]int
	ancestors []bool // of the step asked for last
	asked     int
}

// compile builds the graph of a plan, and collects all problems on the way.
func (c *compiler) compile(p *Plan, path string) *graph {
	g := &graph{plan: p, limit: cmp.Or(p.Limit, 16), steps: make([]node, len(p.Steps))}
	s := &scope{compiler: c, graph: g, path: path, index: map[string]int{}}
	for i := range p.Steps {
		step := &p.Steps[i]
		g.steps[i].Step = step
		if _, twice := s.index[step.Name]; twice || step.Name == Continue {
			c.wrong(s.of(i, "name"), "the name %s is taken", step.Name)
			continue
		}
		s.index[step.Name] = i
	}
	for name, param := range p.Params {
		if err := param.check(param.Default); param.Default != nil && err != nil {
			c.wrong(validate.Below(path, "params."+name+".default"), "the default of %s %v", name, err)
		}
	}
	s.connect()
	s.cycles()
	for i := range g.steps {
		s.step(i)
	}
	s.unreachable()
	if p.Result != nil {
		g.result = expression.NewTemplate(p.Result, s.names(nil, -1), validate.Below(path, "result"), s.said)
	}
	return g
}

// of returns the path of a step's field.
func (s *scope) of(i int, field string) string {
	return validate.Below(s.path, fmt.Sprintf("steps.%d.%s", i, field))
}

// said reports the errors of an expression. There may be several.
func (s *scope) said(path string, err error) {
	for line := range strings.Lines(err.Error()) {
		s.wrong(path, "%s", strings.TrimSuffix(line, "\n"))
	}
}

// connect resolves the names of steps in needs and on_failure.
func (s *scope) connect() {
	for i := range s.steps {
		n := &s.steps[i]
		s.resolve(i, "needs", n.Needs, func(j int) {
			n.needs = append(n.needs, j)
			s.steps[j].dependents = append(s.steps[j].dependents, i)
		})
		n.goesOn = len(n.OnFailure) > 0
		s.resolve(i, "on_failure", n.OnFailure, func(j int) {
			n.handlers = append(n.handlers, j)
			s.steps[j].handles = append(s.steps[j].handles, i)
		})
		if n.Join != "" && len(n.needs) == 0 {
			s.wrong(s.of(i, "join"), "join says how many of needs to wait for, and the step needs none")
		}
	}
}

// resolve calls found for each of the named steps, once.
func (s *scope) resolve(i int, field string, names Names, found func(j int)) {
	for k, name := range names {
		j, known := s.index[name]
		switch {
		case slices.Contains(names[:k], name) || field == "on_failure" && name == Continue:
		case known:
			found(j)
		default:
			s.wrong(s.of(i, field), "there is no step %s%s", name, words.Meant(name, words.Keys(maps.Keys(s.index))))
		}
	}
}

// before returns the steps that the step waits for.
func (g *graph) before(i int) []int { return slices.Concat(g.steps[i].needs, g.steps[i].handles) }

// isBefore reports whether step j has ended, or may have ended, when step i starts.
func (s *scope) isBefore(j, i int) bool {
	if slices.Contains(s.steps[i].needs, j) || slices.Contains(s.steps[i].handles, j) {
		return true
	}
	if s.ancestors == nil || s.asked != i { // steps are checked one after the other
		s.ancestors, s.asked = reach(len(s.steps), i, s.before), i
	}
	return i != j && s.ancestors[j]
}

// stepType returns the type of steps.NAME.
func stepType(s *Step) expression.Type {
	var result expression.Type = expression.Value
	if s.Read != nil && s.ForEach == nil {
		result = expression.Object{"text": expression.Text, "file": expression.Value}
	}
	return expression.Object{"outcome": expression.Text, "cause": expression.Text, "error": expression.Text,
		"run": expression.Text, "result": result, "results": expression.List, "artifacts": expression.List,
		"seconds": expression.Number, "rounds": expression.Integer}
}

// names returns what the expressions of a step may refer to: parameters, earlier steps, and the step's own names such
// as item. The plan's result belongs to no step.
func (s *scope) names(own map[string]expression.Type, step int) expression.Names {
	return func(root, member string) (expression.Type, error) {
		if t, ok := own[root]; ok {
			return expression.Member(t, member)
		}
		switch root {
		case "params":
			if p, ok := s.plan.Params[member]; ok {
				return types[p.Type], nil
			}
			return nil, unknown("parameter", member, "params", slices.Collect(maps.Keys(s.plan.Params)))
		case "steps":
			j, known := s.index[member]
			switch {
			case !known:
				return nil, unknown("step", member, "steps", slices.Collect(maps.Keys(s.index)))
			case step == j && own["round"] != nil, step < 0:
			case step == j:
				return nil, fmt.Errorf("%s cannot refer to itself; only a step with repeat can", member)
			case !s.isBefore(j, step):
				return nil, fmt.Errorf("%s does not wait for %s; add %s to its needs", s.steps[step].Name, member, member)
			}
			return stepType(s.steps[j].Step), nil
		case "item", "index":
			return nil, fmt.Errorf("%s is known only in a step with for_each", root)
		case "round":
			return nil, fmt.Errorf("round is known only in a step with repeat")
		}
		return nil, fmt.Errorf("there is no %s; there are params, steps, item, index and round", root)
	}
}

// step compiles the expressions of a step.
func (s *scope) step(i int) {
	n := &s.steps[i]
	outer := s.names(nil, i)
	n.guard = s.condition(n.If, outer, s.of(i, "if"))
	own := map[string]expression.Type{}
	if n.ForEach != nil {
		n.items = expression.NewTemplate(n.ForEach, outer, s.of(i, "for_each"), s.said)
		if t := n.items.Type; t != "" && t != "array" {
			s.wrong(s.of(i, "for_each"), "for_each needs a list, and this is of type %s", t)
		}
		own["item"], own["index"] = expression.Value, expression.Integer
	} else if n.Limit > 0 {
		s.wrong(s.of(i, "limit"), "the limit is how many items run at a time, and there is no for_each")
	}
	if n.Repeat != nil {
		if n.ForEach != nil {
			s.wrong(s.of(i, "repeat"), "a step has for_each or repeat; put one of them into its own plan")
		}
		own["round"] = expression.Integer
		n.until = s.condition(n.Repeat.Until, s.names(own, i), s.of(i, "repeat.until"))
	}
	field, value := n.work()
	n.input = expression.NewTemplate(value, s.names(own, i), s.of(i, field), s.said)
	s.work(i)
}

// work returns the field that says what the step does, and its template.
func (s *Step) work() (field string, template any) {
	switch {
	case s.Read != nil:
		return "read", map[string]any{"run": s.Read.Run, "name": s.Read.Name}
	case s.Write != nil:
		return "write", map[string]any{"name": s.Write.Name, "text": s.Write.Text}
	case s.Ask != nil:
		return "ask.prompt", s.Ask.Prompt
	case s.Receive != nil:
		return "receive", map[string]any{}
	case s.Input == nil:
		return "input", map[string]any{}
	}
	return "input", s.Input
}

// unknown is the error of an expression with an unknown name.
func unknown(what, name, of string, known []string) error {
	if name == "" {
		return fmt.Errorf("there is no %s without a name; write %s.NAME", what, of)
	}
	words.SortNatural(known)
	return fmt.Errorf("there is no %s %s%s", what, name, words.Meant(name, known))
}

// condition compiles a condition, with or without "${}"; nil if there is none.
func (s *scope) condition(text string, names expression.Names, path string) *expression.Expression {
	if text == "" {
		return nil
	}
	if inner, ok := strings.CutPrefix(text, "${"); ok && strings.HasSuffix(inner, "}") {
		text = inner[:len(inner)-1]
	}
	e, err := expression.Compile(strings.TrimSpace(text), names, expression.Boolean)
	if err != nil {
		s.said(path, err)
	}
	return e
}

// tool checks a call of a tool of another server, if those that there are now are known. Expressions may be anything.
func (s *scope) tool(i int) {
	input := s.steps[i].Input
	server, _ := input["server"].(string)
	name, _ := input["tool"].(string)
	var tools []string
	var form messages.JSONSchema
	for _, d := range s.jobs {
		if d.Tool == "" || d.Server != server {
			continue
		}
		if tools = append(tools, d.Tool); d.Tool == name {
			form = d.Input
		}
	}
	if form == nil {
		if len(tools) > 0 && !strings.Contains(name, "${") {
			s.wrong(s.of(i, "input.tool"), "the server %s has no tool %s%s", server, name, words.Meant(name, tools))
		}
		return
	}
	arguments := map[string]any{}
	if given, is := input["arguments"].(map[string]any); is {
		arguments = given
	}
	text, err := json.Marshal(arguments)
	schema, bad := validate.CompileForeign(form.JSON())
	if err != nil || bad != nil || bytes.Contains(text, []byte("${")) {
		return // the server judges
	}
	if _, err := schema.Fit(text); err != nil {
		s.wrong(s.of(i, "input"), "the tool %s/%s does not take the arguments: %v", server, name, err)
	}
}

// work checks what the step does.
func (s *scope) work(i int) {
	n := &s.steps[i]
	if n.Retry != nil && !n.runsAgain() {
		for _, cause := range n.Retry.Causes {
			if slices.Contains(lost, cause) {
				s.wrong(s.of(i, "retry.causes"), "after %s nobody knows how far the step came; say idempotent: true if it may run again",
					cause)
			}
		}
	}
	if n.Input != nil && n.Job == "" && n.Plan == nil {
		s.wrong(s.of(i, "input"), "only a job or a plan has an input")
	}
	switch {
	case n.Plan != nil:
		sub := s.compiler.compile(n.Plan, s.of(i, "plan"))
		s.input(i, sub.plan.inputForm(), "the plan")
	case n.Job != "":
		job := jobOf(s.jobs, n.Job)
		if job != nil && job.Tool != "" {
			s.wrong(s.of(i, "job"), "a step calls this tool with job: tool, and the input server, tool and arguments")
			break
		}
		if job == nil {
			var names []string
			for _, d := range s.jobs {
				if d.Tool == "" {
					names = append(names, d.Name)
				}
			}
			words.SortNatural(names)
			s.wrong(s.of(i, "job"), "there is no job %s%s", n.Job, words.Meant(n.Job, names))
			break
		}
		var in inputForm
		if schema := job.Input.JSON(); len(schema) > 0 && json.Unmarshal(schema, &in) == nil {
			s.input(i, in, n.Job)
		}
		if n.Job == "tool" {
			s.tool(i)
		}
	case n.Ask != nil:
		if n.Retry != nil {
			s.wrong(s.of(i, "retry"), "a question is asked again only if the answer does not fit; leave retry out")
		}
		if _, err := validate.Compile(n.Ask.schema()); err != nil {
			s.wrong(s.of(i, "ask.schema"), "it is no JSON Schema; see https://json-schema.org/learn")
		}
	case n.Receive != nil:
		if _, err := validate.Compile(n.Receive.schema()); err != nil {
			s.wrong(s.of(i, "receive.schema"), "it is no JSON Schema; see https://json-schema.org/learn")
		}
	}
}
