package plan

import (
	"encoding/json"
	"slices"

	"github.com/seed889630bf/lastword/actors/structured/document"
	"github.com/seed889630bf/lastword/messages"
)

// Plan is a set of steps with parameters. The JSON Schema of its form is [Schema].
type Plan struct {
	// Schema is where an editor finds the schema of the form.
	Schema      string           `json:"$schema,omitempty"`
	Name        string           `json:"name,omitempty"`
	Description string           `json:"description,omitempty"`
	Params      map[string]Param `json:"params,omitempty"`
	// Limit is how many steps and items may run at a time: 16 if it is 0.
	Limit int `json:"limit,omitempty"`
	// Timeout is the longest that all steps may take together; 0 leaves the run's own limit.
	Timeout Duration `json:"timeout,omitzero"`
	Steps   []Step   `json:"steps"`
	// Result is the template of the run's result. Without it the result is the outcome of each step.
	Result any `json:"result,omitempty"`

	text document.Places
}

// Param is a parameter. Without a default it must be given.
type Param struct {
	Type        ParamType `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Default     any       `json:"default,omitempty"`
}

// ParamType is the type of a parameter: a string if empty.
type ParamType string

// The types of parameters.
const (
	String  ParamType = "string"
	Number  ParamType = "number"
	Integer ParamType = "integer"
	Boolean ParamType = "boolean"
	List    ParamType = "list"
	Object  ParamType = "object"
)

// Step is one step of a plan. It does one of Job, Plan, Read, Write and Ask; all but Ask are sub-runs.
type Step struct {
	// Name is how other steps and the events refer to the step: a letter, then letters, digits and underscores.
	Name string `json:"name"`
	// Job is a job of the runtime, and Plan a plan; Input is the template of its input or of its parameters.
	Job   string         `json:"job,omitempty"`
	Plan  *Plan          `json:"plan,omitempty"`
	Input map[string]any `json:"input,omitempty"`
	Read  *Read          `json:"read,omitempty"`
	Write *Write         `json:"write,omitempty"`
	Ask   *Ask           `json:"ask,omitempty"`
	// Needs are the steps that the step starts after.
	Needs Names `json:"needs,omitempty"`
	// Join says of how many of the Needs: All if empty.
	Join Join `json:"join,omitempty"`
	// If is a guard: if it is false, the step is skipped. Without it a step runs only after needs that completed.
	If string `json:"if,omitempty"`
	// ForEach is the template of a list: the step runs for each item, Limit of them at a time.
	ForEach any `json:"for_each,omitempty"`
	Limit   int `json:"limit,omitempty"`
	// Repeat runs the step again.
	Repeat *Repeat `json:"repeat,omitempty"`
	// OnFailure are the steps that run only if this one fails; the plan then goes on, as with [Continue]. Without it
	// a failure ends the plan.
	OnFailure Names  `json:"on_failure,omitempty"`
	Retry     *Retry `json:"retry,omitempty"`
	// Timeout is the longest one sub-run or question may take; 0 leaves the runtime's own limit.
	Timeout Duration `json:"timeout,omitzero"`
	// Idempotent says that the step may run again if nobody knows how far its sub-run came.
	Idempotent bool `json:"idempotent,omitempty"`
}

// Continue, in OnFailure, lets the plan go on without a step of its own for the failure.
const Continue = "continue"

// Read reads the text of an artifact that a run of the same caller has written.
type Read struct {
	Run  string `json:"run"`
	Name string `json:"name"`
}

// Write writes a text as an artifact.
type Write struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Ask asks people. The answer is the step's result; by default it is yes or no, and no fails the step.
type Ask struct {
	Prompt string `json:"prompt"`
	// Schema is the JSON Schema of the answer.
	Schema map[string]any `json:"schema,omitempty"`
}

// Join says when a step starts that needs several.
type Join string

// The joins.
const (
	// All: when all have ended.
	All Join = "all"
	// Any: when one has completed. The others go on.
	Any Join = "any"
	// First: when one has completed. The others are cancelled.
	First Join = "first"
)

// Repeat bounds a loop: the step runs until the guard is true, at most Most times. Without a guard it runs Most times.
// A guard that is still false after that fails the step.
type Repeat struct {
	Until string `json:"until,omitempty"`
	Most  int    `json:"most"`
}

// Retry runs a failed step again. Without it a step is tried once.
type Retry struct {
	// Attempts is how often the step is tried in all.
	Attempts int `json:"attempts"`
	// Delay is the wait before the second attempt: 1 s if 0. It doubles with each, up to a minute.
	Delay Duration `json:"delay,omitzero"`
	// Causes are those after which the step is tried again. If empty, they are the causes of errors that may pass.
	Causes []messages.Code `json:"causes,omitempty"`
}

// Names is a list of names. In a file, one name may stand without the list.
type Names []string

// UnmarshalJSON reads a list, or one name.
func (n *Names) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*n = Names{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}

// Duration is a time such as 90s.
type Duration = messages.Duration

// Asks reports whether the plan, or one within it, asks people.
func (p *Plan) Asks() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Ask != nil || s.Plan != nil && s.Plan.Asks() })
}
