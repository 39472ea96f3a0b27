package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Plan is a set of steps with parameters. [Schema] is the JSON Schema of its form.
type Plan struct {
	// Schema tells editors where to find the JSON Schema.
	Schema      string           `json:"$schema,omitempty"`
	Name        string           `json:"name,omitempty"`
	Description string           `json:"description,omitempty"`
	Params      map[string]Param `json:"params,omitempty"`
	// Limit is how many steps and items may run at a time; 0 means 16.
	Limit int `json:"limit,omitempty"`
	// Timeout bounds the whole plan; 0 leaves the run's own limit.
	Timeout duration `json:"timeout,omitzero"`
	Steps   []Step   `json:"steps"`
	// Result is the template of the run's result. Without it the result is the outcome of each step.
	Result any `json:"result,omitempty"`

	text validate.Places
}

// Param is a parameter. A parameter without a default is required.
type Param struct {
	Type        paramType `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Default     any       `json:"default,omitempty"`
}

// paramType is the type of a parameter; "" means a string.
type paramType string

// The types of parameters.
const (
	String       paramType = "string"
	numberParam  paramType = "number"
	Integer      paramType = "integer"
	booleanParam paramType = "boolean"
	List         paramType = "list"
	objectParam  paramType = "object"
)

// Step is one step of a plan. It has exactly one of Job, Plan, Read, Write, Ask and Receive. All except Ask and
// Receive are sub-runs.
type Step struct {
	// Name identifies the step in other steps and in the events: a letter, then letters, digits and underscores.
	Name string `json:"name"`
	// Job is a job of the runtime, and Plan a nested plan. Input is the template of its input or parameters.
	Job   string         `json:"job,omitempty"`
	Plan  *Plan          `json:"plan,omitempty"`
	Input map[string]any `json:"input,omitempty"`
	Read  *read          `json:"read,omitempty"`
	Write *write         `json:"write,omitempty"`
	Ask   *ask           `json:"ask,omitempty"`
	// Receive waits for a message to the run.
	Receive *receive `json:"receive,omitempty"`
	// Needs are the steps after which this step starts.
	Needs Names `json:"needs,omitempty"`
	// Join says how many of the Needs must have ended; "" means All.
	Join joinRule `json:"join,omitempty"`
	// If is a guard: if it is false, the step is skipped. Without it a step runs only if its needs have completed.
	If string `json:"if,omitempty"`
	// ForEach is the template of a list. The step runs once for each item, with at most Limit items at a time.
	ForEach any `json:"for_each,omitempty"`
	Limit   int `json:"limit,omitempty"`
	// Repeat repeats the step.
	Repeat *repeat `json:"repeat,omitempty"`
	// OnFailure lists steps that run only if this one fails. The plan then continues, as it does with [Continue].
	// Without OnFailure a failure ends the plan.
	OnFailure Names  `json:"on_failure,omitempty"`
	Retry     *retry `json:"retry,omitempty"`
	// Timeout bounds one sub-run, question or wait for a message; 0 leaves the runtime's own limit.
	Timeout duration `json:"timeout,omitzero"`
	// Idempotent says that the step may run again if nobody knows how far its sub-run got.
	Idempotent bool `json:"idempotent,omitempty"`
}

// Continue, in OnFailure, lets the plan continue after a failure without a further step.
const Continue = "continue"

// read reads the text of an artifact from a run of the same caller.
type read struct {
	Run  string `json:"run"`
	Name string `json:"name"`
}

// write writes a text as an artifact.
type write struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ask asks people. The answer is the step's result. By default it is yes or no, and no fails the step.
type ask struct {
	Prompt string `json:"prompt"`
	// Schema is the JSON Schema of the answer.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// receive waits for what somebody says to the run, which is the step's result.
type receive struct {
	// Schema is the JSON Schema of the message, which then is JSON. Without it any text fits.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// joinRule says when a step starts that needs several others.
type joinRule string

// The joins.
const (
	// allJoin: when all have ended.
	allJoin joinRule = "all"
	// Any: when one has completed. The others continue.
	Any joinRule = "any"
	// First: when one has completed. The others are cancelled.
	First joinRule = "first"
)

// repeat describes a loop: the step runs until the guard is true, at most Most times. Without a guard it runs Most
// times. A guard that is still false after that fails the step.
type repeat struct {
	Until string `json:"until,omitempty"`
	Most  int    `json:"most"`
}

// retry repeats a failed step. Without it a step is tried once.
type retry struct {
	// Attempts is the total number of tries.
	Attempts int `json:"attempts"`
	// Delay is the wait before the second attempt; 0 means 1 s. It doubles with each attempt, up to a minute.
	Delay duration `json:"delay,omitzero"`
	// Causes are those after which the step is tried again. If empty, they are the causes of temporary errors.
	Causes []messages.Code `json:"causes,omitempty"`
}

// Names is a list of names. In a file, a single name needs no list.
type Names []string

// UnmarshalJSON reads a list, or a single name.
func (n *Names) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*n = Names{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}

// duration is a duration such as 90s.
type duration = messages.Duration

// Jobs returns the jobs of the steps, and of the steps of nested plans.
func (p *Plan) Jobs() (jobs []string) {
	for _, s := range p.Steps {
		if s.Plan != nil {
			jobs = append(jobs, s.Plan.Jobs()...)
		} else if s.Job != "" {
			jobs = append(jobs, s.Job)
		}
	}
	return jobs
}

// Asks reports whether the plan, or a nested plan, asks people.
func (p *Plan) Asks() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Ask != nil || s.Plan != nil && s.Plan.Asks() })
}

// Receives reports whether a step of the plan itself waits for messages: those to the run of a nested plan are its own.
func (p *Plan) Receives() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Receive != nil })
}

// inputForm is the part of a JSON Schema about the members of an object.
type inputForm struct {
	Properties           map[string]property `json:"properties"`
	Required             []string            `json:"required"`
	AdditionalProperties any                 `json:"additionalProperties"`
}

type property struct {
	Type any `json:"type"`
}

// inputForm returns the form of the plan's parameters.
func (p *Plan) inputForm() inputForm {
	f := inputForm{Properties: map[string]property{}, AdditionalProperties: false}
	for _, name := range words.Keys(maps.Keys(p.Params)) {
		f.Properties[name] = property{fmt.Sprint(types[p.Params[name].Type])}
		if p.Params[name].Default == nil {
			f.Required = append(f.Required, name)
		}
	}
	return f
}

// types are the types of parameters in expressions. They print as JSON Schema names them.
var types = map[paramType]expression.Type{"": expression.Text, String: expression.Text, numberParam: expression.Number,
	Integer: expression.Integer, booleanParam: expression.Boolean, List: expression.List, objectParam: expression.Members}

// input checks a step's input against the form: its names, and the types that are known.
func (s *scope) input(i int, form inputForm, of string) {
	fields := s.steps[i].input.Members
	for _, name := range form.Required {
		if _, given := fields[name]; !given {
			s.wrong(s.of(i, "input"), "%s needs the input %s", of, name)
		}
	}
	for _, name := range words.Keys(maps.Keys(fields)) {
		path := s.of(i, "input."+name)
		property, known := form.Properties[name]
		if !known {
			if form.AdditionalProperties == false {
				s.wrong(path, "%s has no input %s%s", of, name, words.Meant(name, words.Keys(maps.Keys(form.Properties))))
			}
			continue
		}
		if have := fields[name]; !fits(have, property.Type) {
			s.wrong(path, "%s is of type %s, and %s needs %v", name, have, of, property.Type)
		}
	}
}

// fits reports whether a value of the type may be one of the types that a schema allows.
func fits(have string, want any) bool {
	one := func(t any) bool { return have == "" || t == have || t == "number" && have == "integer" }
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, one)
	}
	return want == nil || one(want)
}

// check returns what is wrong with a value of the parameter, or nil.
func (p Param) check(v any) error {
	if !fits(expression.TypeOf(v), fmt.Sprint(types[p.Type])) {
		return fmt.Errorf("must be of type %s", cmp.Or(p.Type, String))
	}
	return nil
}

// Values returns the parameters, with defaults for those that are not given. Its error lists all faults.
func (p *Plan) Values(given map[string]any) (map[string]any, error) {
	all, wrong := make(map[string]any, len(p.Params)), []string(nil)
	for _, name := range words.Keys(maps.Keys(given)) {
		if _, known := p.Params[name]; !known {
			wrong = append(wrong, fmt.Sprintf("the plan has no parameter %s%s", name, words.Meant(name, words.Keys(maps.Keys(p.Params)))))
		}
	}
	for _, name := range words.Keys(maps.Keys(p.Params)) {
		param := p.Params[name]
		v, ok := given[name]
		if !ok {
			v = param.Default
		}
		if v == nil {
			wrong = append(wrong, fmt.Sprintf("the parameter %s is missing", name))
			continue
		}
		if err := param.check(v); err != nil {
			wrong = append(wrong, fmt.Sprintf("the parameter %s %v", name, err))
		}
		all[name] = v
	}
	if wrong != nil {
		return nil, messages.InvalidInput("%s", strings.Join(wrong, "\n"))
	}
	return all, nil
}
